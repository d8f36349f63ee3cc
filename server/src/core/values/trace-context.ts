// W3C Trace Context, https://www.w3.org/TR/trace-context/: what a request is part of, told from service to service.

/** One step of a trace. */
export interface TraceContext {
  /** 32 lowercase hex digits, the same for all steps of a trace. */
  readonly traceId: string
  /** 16 lowercase hex digits: this step. */
  readonly spanId: string
  readonly flags: number
}

/** Sampled, and random trace id: what other bits mean is not known, so they are not passed on. */
const KNOWN_FLAGS = 0b11
const RANDOM_TRACE_ID = 0b10
/** A version of ours has nothing behind the flags; a later one may have more, behind another dash. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The caller's step; `undefined` where the header is not what the standard wants. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [whole, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? []
  if (whole === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS }
}

/** A step of ours in the caller's trace. */
export function childOf({ traceId, flags }: TraceContext): TraceContext {
  return { traceId, spanId: randomHex(8), flags }
}

/** The first step of a trace of our own, which nobody asked to be sampled. */
export function newTrace(): TraceContext {
  return { traceId: randomHex(16), spanId: randomHex(8), flags: RANDOM_TRACE_ID }
}

/** As it is sent, in `traceparent` and in `traceresponse`. */
export function traceText({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  // All zeros means that there is none.
  return random.some((byte) => byte !== 0) ? random.toHex() : randomHex(bytes)
}
