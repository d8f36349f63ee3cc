import { createHash } from 'node:crypto'

export interface PeerKey {
  readonly id: string
  readonly perMinute: number
  readonly perDay: number
}

export interface GateResult {
  readonly headers: Readonly<Record<string, string>>
  readonly key?: PeerKey
  readonly refused?: { readonly status: 401 | 429; readonly code: string; readonly message: string }
}

interface Window {
  endsAt: number
  used: number
}

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400
const BEARER = /^bearer +(\S+)$/i

/** Requests without a valid key are counted by address, as in ours, and ours is started with the same limit. */
const UNAUTHENTICATED = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/**
 * The checks of every peer before its handler: it looks up the key by its SHA-256 and counts two windows per key in
 * memory. It does as little as possible, so that it does not slow the peer down.
 */
export function createGate(findKey: (hash: string) => PeerKey | undefined) {
  const minutes = new Map<string, Window>()
  const days = new Map<string, Window>()

  return (authorization: string | undefined, address: string): GateResult => {
    const secret = BEARER.exec(authorization ?? '')?.[1]
    const key = secret === undefined ? undefined : findKey(sha256(secret))
    const { perMinute, perDay } = key ?? UNAUTHENTICATED
    const now = Math.floor(Date.now() / 1000)
    const minute = windowOf(minutes, key?.id ?? address, MINUTE_SECONDS, now)
    const day = windowOf(days, key?.id ?? address, DAY_SECONDS, now)

    const [window, limit] = perDay - day.used <= perMinute - minute.used ? [day, perDay] : [minute, perMinute]
    if (window.used >= limit) {
      return {
        headers: { ...limitHeaders(limit, 0, window.endsAt), 'Retry-After': String(window.endsAt - now) },
        refused: { status: 429, code: 'rate_limit_exceeded', message: `the limit of ${limit} is exceeded` },
      }
    }
    minute.used++
    day.used++
    const headers = limitHeaders(limit, limit - window.used, window.endsAt)
    if (key !== undefined) return { headers, key }
    return {
      headers: { ...headers, 'WWW-Authenticate': 'Bearer realm="petstore"' },
      refused: { status: 401, code: 'unauthorized', message: 'the API key is missing or invalid' },
    }
  }
}

export function sha256(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function windowOf(windows: Map<string, Window>, owner: string, seconds: number, now: number): Window {
  let window = windows.get(owner)
  if (window === undefined || now >= window.endsAt) {
    window = { endsAt: now + seconds, used: 0 }
    windows.set(owner, window)
  }
  return window
}

function limitHeaders(limit: number, remaining: number, resetAt: number): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAt),
  }
}
