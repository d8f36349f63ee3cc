import type { Batch } from '../stock/adjustment-batch.ts'

/** A pet that keeps a document from being booked. */
export interface RefusedPet {
  readonly petId: bigint
  readonly why: string
  /** The units that can be taken, if the service says so. */
  readonly free: number | undefined
}

export interface Refusal {
  /** Empty if the pets say why. */
  readonly message: string
  /** It can only be booked as of now. */
  readonly isTooLate: boolean
  readonly pets: readonly RefusedPet[]
}

export type WorkKind = 'sale' | 'delivery' | 'count'

/** A sale, a delivery or a count: a draft, or on its way to the service. */
export interface WorkDocument<Head = unknown, Line = unknown> {
  /** Its kind while it is a draft, which all tabs share; then its id. */
  readonly slot: string
  /** Also its Idempotency-Key: however often it is sent, it is booked once. */
  readonly id: string
  readonly kind: WorkKind
  readonly head: Head
  /** The line that was added last is the last one. */
  readonly lines: ReadonlyMap<bigint, Line>
  /** `undefined` while it is a draft. */
  readonly sent?: SentWork | undefined
  /** Why the service did not book it. It is not sent again until a person decides. */
  readonly refusal?: Refusal | undefined
}

/** What is sent, and by whom: the service recognizes a repeated request by its key. */
export interface SentWork {
  readonly by: { readonly id: string; readonly name: string }
  readonly batch: Batch
}

export type SentDocument = WorkDocument & { readonly sent: SentWork }

export function isSent(document: WorkDocument): document is SentDocument {
  return document.sent !== undefined
}

const TITLES: Readonly<Record<WorkKind, string>> = { sale: 'Sale', delivery: 'Delivery', count: 'Count' }

/** Such as `Sale R-7`. */
export function titleOf({ kind, sent }: SentDocument): string {
  return [TITLES[kind], sent.batch.purpose.reference].filter(Boolean).join(' ')
}

const COUNTED: Readonly<Record<WorkKind, readonly [string, string]>> = {
  sale: ['sale', 'sales'],
  delivery: ['delivery', 'deliveries'],
  count: ['count', 'counts'],
}

/** Such as `2 sales, 1 delivery`. */
export function countWords(documents: readonly WorkDocument[]): string {
  return Object.entries(COUNTED)
    .map(([kind, words]) => [documents.filter((document) => document.kind === kind).length, words] as const)
    .filter(([count]) => count > 0)
    .map(([count, [one, many]]) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`)
    .join(', ')
}
