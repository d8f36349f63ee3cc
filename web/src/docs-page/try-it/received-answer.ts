/** What came back, as it came. */
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
  readonly bytes: number
  readonly milliseconds: number
  /** When it came, in milliseconds. */
  readonly at: number
}

/** One event of a stream as the wire has it. */
export interface ReceivedEvent {
  /** Counts from 1. */
  readonly place: number
  readonly kind: string
  readonly id: string
  readonly data: string
  readonly at: number
}

export interface LimitHeaders {
  readonly limit: number
  readonly remaining: number
  /** By the clock of this machine, in milliseconds. */
  readonly resetAt: number
}

export function headerOf({ headers }: Pick<ReceivedAnswer, 'headers'>, name: string): string | undefined {
  return headers.find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1]
}

/** `undefined` where a proxy answered that knows no limits. */
export function limitHeadersOf(answer: ReceivedAnswer): LimitHeaders | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number(headerOf(answer, `X-RateLimit-${name}`) ?? Number.NaN),
  )
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  if (Number.isNaN(limit + remaining + reset)) return undefined
  const serverTime = Date.parse(headerOf(answer, 'Date') ?? '')
  const difference = answer.at - serverTime
  // The Date header is cut to the second, and the answer was on its way: little is no difference.
  return { limit, remaining, resetAt: reset * 1000 + (Math.abs(difference) > 2_000 ? difference : 0) }
}

/** Until when the service asks to send nothing. */
export function waitUntil(answer: ReceivedAnswer): number | undefined {
  const seconds = Number(headerOf(answer, 'Retry-After') ?? Number.NaN)
  return Number.isNaN(seconds) ? undefined : answer.at + seconds * 1000
}

/** The code of an Error body; `undefined` where the body is something else. */
export function errorIn({ status, text }: ReceivedAnswer): { code: string; message: string } | undefined {
  if (status < 400) return undefined
  try {
    const { code, message } = JSON.parse(text)
    return typeof code === 'string' ? { code, message: String(message) } : undefined
  } catch {
    return undefined
  }
}
