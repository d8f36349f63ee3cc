// W3C Trace Context: https://www.w3.org/TR/trace-context/

/** One span of a trace. */
export interface TraceContext {
  /** 32 lowercase hex digits, the same for all spans of a trace. */
  readonly traceId: string
  /** 16 lowercase hex digits. */
  readonly spanId: string
  readonly flags: number
}

/** Sampled, and random trace id. Unknown flags are not passed on. */
const KNOWN_FLAGS = 0b11
const RANDOM_TRACE_ID = 0b10
/** Version 00 ends with the flags. Later versions may add fields after another dash. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The caller's span; `undefined` if the header is invalid. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [whole, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? []
  if (whole === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS }
}

/** A new span in the caller's trace. */
export function childOf({ traceId, flags }: TraceContext): TraceContext {
  return { traceId, spanId: randomHex(8), flags }
}

/** The first span of a new trace, not sampled. */
export function newTrace(): TraceContext {
  return { traceId: randomHex(16), spanId: randomHex(8), flags: RANDOM_TRACE_ID }
}

/** The value of `traceparent` and `traceresponse`. */
export function traceText({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  // All zeros is not a valid id.
  return random.some((byte) => byte !== 0) ? random.toHex() : randomHex(bytes)
}
