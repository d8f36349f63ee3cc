/** The expected response, without limits. */
export interface Outcome {
  readonly status: number
  readonly code?: string
  /** Numbers are `bigint`. A history has no ids, because only the service knows them. */
  readonly body?: unknown
  readonly allows?: readonly string[]
  readonly isDeprecated?: boolean
  /** What the ETag identifies. */
  readonly tagged?: { readonly resource: string; readonly content: string }
  /** If there is another page: the name under which it is stored, and its start. */
  readonly next?: {
    readonly name: string
    readonly last: number | bigint
    /** The sort value of the last entry, if it is not its position or id. */
    readonly value?: string | number | undefined
    readonly pattern: RegExp
  }
  /** Which changes of an adjustment are impossible, or why an order is. */
  readonly details?: readonly Detail[]
  /** What is stored under its Idempotency-Key, and replayed to the last byte. */
  readonly remembers?: ModelAnswer
  readonly replays?: ModelAnswer
  /** The created resource; the body describes it. */
  readonly made?: MadeThing
  /** Indexes of the shown entries in the history. */
  readonly shown?: { readonly petId: bigint; readonly places: readonly number[] }
}

/** An order, pet or category: the service assigns its id unless one was requested, and the response has it. */
export interface MadeThing {
  readonly id?: bigint | undefined
  readonly path: string
  isTaken(id: bigint): boolean
  bodyOf(id: bigint): object
  /** Applies it to the model. */
  keep(id: bigint): void
}

export interface Detail {
  readonly index: number
  readonly petId?: bigint
  readonly code: string
  /** The available units, if they are too few. */
  readonly available?: number
  /** The state of a closed order. */
  readonly state?: string
}

/** Who changes something, when and why. */
export interface ChangedBy {
  readonly at: number
  readonly id: string
  readonly name: string
  readonly reason?: string
  readonly reference?: string
}

/** The stored response of an Idempotency-Key. */
export interface ModelAnswer {
  readonly fingerprint: string
  readonly at: number
  /** As received. */
  told?: { readonly status: number; readonly text: string; readonly tag: string | null }
  /** By the clock of one instance it expired once, and may have been removed: the exact time is unknown. */
  mayBeGone: boolean
}

/** A request to change something, with or without an Idempotency-Key. */
export interface Intent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The rejection, regardless of the stock. */
  readonly refusal?: Outcome | undefined
  /** Whether it creates a pet with a quantity, which needs the permission `stock` as well. */
  readonly createsStock?: boolean
  /** Whether it would remove a pet with a quantity now, which needs the permission `stock` as well. */
  removesStock?(): boolean
  /** The outcome of the commit. */
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

/** Ids and counts are digits in JSON, and compared as such. */
export function asText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
