// W3C Trace Context: https://www.w3.org/TR/trace-context/

export interface TraceContext {
  /** 32 lowercase hex digits, the same for all spans of a trace. */
  readonly traceId: string
  /** 16 lowercase hex digits. */
  readonly spanId: string
  readonly flags: number
}

const SAMPLED = 0b01
const RANDOM_TRACE_ID = 0b10
/** Other flags of the caller are not passed on. */
const KNOWN_FLAGS = SAMPLED | RANDOM_TRACE_ID
/** Version 00 ends with the flags. Later versions may add fields after another dash. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The caller's span; `undefined` if the header is invalid. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [match, version, traceId = '', spanId = '', flags = '', laterFields] = TRACEPARENT.exec(text) ?? []
  if (match === undefined || (version === '00' && laterFields !== undefined)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS }
}

export function childSpan({ traceId, flags }: TraceContext): TraceContext {
  return { traceId, spanId: randomHex(8), flags }
}

/** The first span of a new trace that is not sampled. */
export function newTrace(): TraceContext {
  return { traceId: randomHex(16), spanId: randomHex(8), flags: RANDOM_TRACE_ID }
}

/** The value of `traceparent` and `traceresponse`. */
export function formatTraceContext({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  // An id of only zeros is invalid.
  return random.some((byte) => byte !== 0) ? random.toHex() : randomHex(bytes)
}
