/** Why a request got 429: its key's window or ban, or the window of an address that sent no valid key. */
export const LIMIT_REASONS = ['rate_limit_exceeded', 'key_banned', 'anonymous'] as const
export type LimitReason = (typeof LIMIT_REASONS)[number]

/** How the gate refused a request for its limits. */
export interface Limited {
  readonly reason: LimitReason
  /** This very request brought the ban. */
  readonly beginsBan: boolean
}

/** What is known of a request once its answer stands. It holds nothing that a log may not show. */
export interface FinishedRequest {
  readonly requestId: string
  /** Of the trace that the caller says it is part of; `undefined` where it says none. */
  readonly traceId: string | undefined
  /** The operation's id, the name of a public page, or `preflight`; `none` where the request hit neither. */
  readonly operation: string
  readonly method: string
  /** Without the query, which may hold anything. */
  readonly path: string
  readonly status: number
  /** From the request's arrival until its answer is handed to the network. */
  readonly durationMs: number
  clientAddress(): string
  /** The public id of the key, never the key. */
  readonly keyId: string | undefined
  readonly limited: Limited | undefined
  /** Why the request could not be read; `undefined` where it could. */
  readonly problem: string | undefined
  /** What went wrong inside, for the operator alone; `undefined` where nothing did. */
  readonly error: unknown
}

/** Is told of every request once its answer stands. */
export interface RequestObserver {
  requestFinished(request: FinishedRequest): void
}
