/** What must come back, limits aside. */
export interface Outcome {
  readonly status: number
  readonly code?: string
  /** Numbers are `bigint`. Of a history without ids, which only the service knows. */
  readonly body?: unknown
  readonly allows?: readonly string[]
  readonly isDeprecated?: boolean
  /** What the ETag stands for. */
  readonly tagged?: { readonly resource: string; readonly content: string }
  /** Where there is another page: under which name it is remembered, and its beginning. */
  readonly next?: {
    readonly name: string
    readonly last: number | bigint
    /** What the last one was sorted by, where that is not its place or id. */
    readonly value?: string | number | undefined
    readonly pattern: RegExp
  }
  /** Which changes of an adjustment cannot be made, or why an order cannot be. */
  readonly details?: readonly Detail[]
  /** What is remembered of it under its Idempotency-Key; and what is answered again, to the last byte. */
  readonly remembers?: ModelAnswer
  readonly replays?: ModelAnswer
  /** What is new by it; the body is that of the thing. */
  readonly made?: MadeThing
  /** Indexes in the history of the entries that are shown. */
  readonly shown?: { readonly petId: bigint; readonly places: readonly number[] }
}

/** An order, a pet or a category: it gets its id from the service where none was asked for, and the answer tells it. */
export interface MadeThing {
  readonly id?: bigint | undefined
  readonly path: string
  isTaken(id: bigint): boolean
  bodyOf(id: bigint): object
  /** It has happened to the model after this. */
  keep(id: bigint): void
}

export interface Detail {
  readonly index: number
  readonly petId?: bigint
  readonly code: string
  /** How many there are for it, where that is too little. */
  readonly available?: number
  /** What an order is that is closed. */
  readonly state?: string
}

/** Who changes something, when and what for. */
export interface ChangedBy {
  readonly at: number
  readonly id: string
  readonly name: string
  readonly reason?: string
  readonly reference?: string
}

/** What is remembered under an Idempotency-Key. */
export interface ModelAnswer {
  readonly fingerprint: string
  readonly at: number
  /** As it came. */
  told?: { readonly status: number; readonly text: string; readonly tag: string | null }
  /** By the clock of one of the instances it was over once, and may have been removed: nobody can tell when. */
  mayBeGone: boolean
}

/** A request to change something, with or without an Idempotency-Key. */
export interface Intent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What it is refused with, whatever there is in stock. */
  readonly refusal?: Outcome | undefined
  /** What the commit comes to. */
  decide(by: ChangedBy): Outcome
}

const MEANING: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'insufficient_stock',
  410: 'gone',
  412: 'precondition_failed',
  413: 'payload_too_large',
  422: 'idempotency_key_reused',
}

export function failure(status: number, facts: Partial<Outcome> = {}): Outcome {
  const code = MEANING[status]
  return { status, ...(code === undefined ? {} : { code }), ...facts }
}

/** Ids and counts are digits on the wire, and compared as such. */
export function asText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
