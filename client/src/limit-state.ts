/** The rate-limit window of the key with the fewest requests left. */
export interface LimitState {
  /** The limit in force. */
  readonly limit: number
  /** Requests remaining in the current window. */
  readonly remaining: number
  /** When the limit resets, in Unix seconds by the clock of the service. */
  readonly reset: number
}

/** `undefined` unless the response has all three headers; a response of a proxy may have none. */
export function readLimitState(headers: Headers): LimitState | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    wholeNumber(headers.get(`X-RateLimit-${name}`)),
  )
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  return { limit, remaining, reset }
}

/** Responses may overtake each other: within a window, the lower number of remaining requests is the later one. */
export function laterState(known: LimitState | undefined, received: LimitState): LimitState {
  const isSameWindow = known?.limit === received.limit && known.reset === received.reset
  return isSameWindow && known.remaining < received.remaining ? known : received
}

/** The delay in milliseconds that the service asks for, as seconds or a date (RFC 9110, 10.2.3). */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('Retry-After')
  const seconds = wholeNumber(value)
  if (seconds !== undefined) return seconds * 1000
  const date = Date.parse(value ?? '')
  // Both dates are by the clock of the service, so that a wrong clock here does not matter.
  const sentAt = Date.parse(headers.get('Date') ?? '')
  return Number.isNaN(date) ? undefined : Math.max(0, date - (Number.isNaN(sentAt) ? now : sentAt))
}

function wholeNumber(value: string | null): number | undefined {
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined
}
