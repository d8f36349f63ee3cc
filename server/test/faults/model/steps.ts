import fc from 'fast-check'
import { PERMISSIONS, type Permission } from '../../../src/core/keys/api-key.ts'
import { type CatalogChangeCall, type CatalogLookCall, catalogCall } from './catalog-steps.ts'
import {
  type CancelCall,
  follows,
  limit,
  type OrderCall,
  type OrderPageCall,
  type OrderUpdateCall,
  orderCall,
  pet,
} from './order-steps.ts'
import { BAD_ADJUSTMENTS, FLAWS } from './requests.ts'

/** The sender of a request: one of the keys, by number, with one of its secrets; or somebody without a valid one. */
export type Sender =
  | { readonly kind: 'key'; readonly key: number; readonly secret: number }
  | { readonly kind: 'none' | 'basic' | 'mistyped' | 'unknown' }

/** Which tags a condition names, in relation to earlier responses. */
export const TAG_CHOICES = [
  'none',
  'current',
  'stale',
  'weak',
  'several',
  'foreign',
  'any',
  'malformed',
] as const
export type TagChoice = (typeof TAG_CHOICES)[number]

export interface UpdateCall {
  readonly kind: 'update'
  readonly pet: number
  readonly body: number
  readonly quantity: number
}

export interface AdjustCall {
  readonly kind: 'adjust'
  /** Index of an invalid adjustment; other numbers stand for one of these changes. */
  readonly body: number
  readonly reason: number
  readonly reference: number
  readonly changes: readonly ChangeOfCall[]
}

export interface ChangeOfCall {
  readonly pet: number
  readonly by: 'delta' | 'quantity'
  readonly amount: number
  readonly expects: 'none' | 'current' | 'another'
  /** What it has instead of a valid value. */
  readonly flaw: string | undefined
}

/** Calls that change something, and use an Idempotency-Key. */
export type ChangeCall =
  | UpdateCall
  | AdjustCall
  | OrderCall
  | OrderUpdateCall
  | CancelCall
  | CatalogChangeCall
  /** Repeats an earlier change with its Idempotency-Key; by the same sender or by another. */
  | { readonly kind: 'again'; readonly back: number; readonly bySame: boolean }

export type LookCall =
  | { readonly kind: 'list'; readonly coding: 'identity' | 'gzip' | 'zstd' }
  | { readonly kind: 'item'; readonly pet: number }
  | { readonly kind: 'availability'; readonly pet: number }
  | { readonly kind: 'one-order'; readonly order: number }
  | OrderPageCall
  | CatalogLookCall
  | { readonly kind: 'history'; readonly pet: number; readonly limit: number; readonly follows: boolean }
  | { readonly kind: 'pet'; readonly pet: number }
  | { readonly kind: 'orders' }
  | { readonly kind: 'odd'; readonly number: number }

export type Call = ChangeCall | LookCall

export interface PetRow {
  readonly pet: number
  readonly name: string
  readonly categoryId: bigint
  readonly status: 'available' | 'pending' | 'sold'
  readonly quantity: number
}

export type Command =
  | { readonly kind: 'import'; readonly rows: readonly PetRow[]; readonly isBad: boolean }
  | { readonly kind: 'remove'; readonly pet: number }
  | { readonly kind: 'order'; readonly id: bigint; readonly pet: number; readonly complete: boolean }
  | {
      readonly kind: 'create'
      readonly perMinute: number
      readonly permissions: readonly Permission[]
      readonly hours: number
    }
  | { readonly kind: 'rotate'; readonly key: number; readonly graceSeconds: number }
  | { readonly kind: 'revoke'; readonly key: number }
  | { readonly kind: 'backup' }

export type Step =
  | {
      readonly kind: 'request'
      readonly sender: Sender
      readonly call: Call
      readonly tags: TagChoice
      readonly isHead: boolean
      /** The number of an Idempotency-Key. */
      readonly idempotencyKey: number | undefined
      readonly instance: number
      /** How often it is sent in a row, to reach limits. */
      readonly times: number
    }
  | { readonly kind: 'clock'; readonly by: number }
  | { readonly kind: 'restart' }
  /** Reads at one of the instances all events since the last time. */
  | { readonly kind: 'events'; readonly instance: number }
  | { readonly kind: 'command'; readonly command: Command }

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const MOVES = [1, 250, 999, SECOND, 30 * SECOND, 59_999, 60 * SECOND, 300 * SECOND, HOUR, DAY]

/** Half of the time the key without a limit. */
const key = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 5, arbitrary: fc.nat({ max: 9 }) })
const status = fc.constantFrom('available', 'pending', 'sold')
const bySame = fc.constantFrom(true, true, true, false)

const sender: fc.Arbitrary<Sender> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('key'), key, secret: fc.nat({ max: 2 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('none', 'basic', 'mistyped', 'unknown') }),
  },
)

const changeOfCall: fc.Arbitrary<ChangeOfCall> = fc.record({
  pet,
  by: fc.constantFrom('delta', 'quantity'),
  amount: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: -9, max: 9 }) },
    { weight: 1, arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER) },
  ),
  expects: fc.constantFrom('none', 'none', 'none', 'current', 'current', 'another'),
  flaw: fc.oneof(
    { weight: 30, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...FLAWS) },
  ),
})

const adjust: fc.Arbitrary<AdjustCall> = fc.record({
  kind: fc.constant('adjust'),
  body: fc.nat({ max: 10 * BAD_ADJUSTMENTS.length }),
  reason: fc.nat({ max: 6 }),
  reference: fc.nat({ max: 4 }),
  changes: fc.array(changeOfCall, { minLength: 1, maxLength: 3 }),
})

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: orderCall },
  { weight: 14, arbitrary: catalogCall },
  fc.record({
    kind: fc.constant('list'),
    coding: fc.constantFrom('identity', 'gzip', 'zstd'),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('item'), pet }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('update'),
      pet,
      body: fc.nat({ max: 99 }),
      quantity: fc.nat({ max: 3 }),
    }),
  },
  { weight: 3, arbitrary: adjust },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('again'), back: fc.nat({ max: 6 }), bySame }) },
  fc.record({ kind: fc.constant('history'), pet, limit, follows }),
  fc.record({ kind: fc.constant('pet'), pet }),
  fc.record({ kind: fc.constant('orders') }),
  fc.record({ kind: fc.constant('odd'), number: fc.nat({ max: 99 }) }),
)

const petRow: fc.Arbitrary<PetRow> = fc.record({
  pet,
  name: fc.constantFrom('Biscuit', 'Мурка, the "Great"', 'Zoë 🐶'),
  categoryId: fc.constantFrom(1n, -9223372036854775808n, 9223372036854775807n),
  status,
  quantity: fc.nat({ max: 3 }),
})

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('import'),
      rows: fc.uniqueArray(petRow, { minLength: 1, maxLength: 6, selector: (row) => row.pet }),
      isBad: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), pet }) },
  fc.record({
    kind: fc.constant('order'),
    id: fc.constantFrom(1n, 2n, 9007199254740993n),
    pet,
    complete: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('create'),
    perMinute: fc.integer({ min: 1, max: 6 }),
    permissions: fc.subarray([...PERMISSIONS]),
    hours: fc.constantFrom(0, 1, 30),
  }),
  fc.record({ kind: fc.constant('rotate'), key, graceSeconds: fc.constantFrom(0, 60, 7_200) }),
  fc.record({ kind: fc.constant('revoke'), key }),
  fc.record({ kind: fc.constant('backup') }),
)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 240,
    arbitrary: fc.record({
      kind: fc.constant('request'),
      sender,
      call,
      tags: fc.oneof(
        { weight: 2, arbitrary: fc.constant('none') },
        { weight: 3, arbitrary: fc.constantFrom(...TAG_CHOICES) },
      ) as fc.Arbitrary<TagChoice>,
      isHead: fc.constantFrom(false, false, false, false, true),
      idempotencyKey: fc.option(fc.nat({ max: 9 }), { nil: undefined, freq: 2 }),
      instance: fc.nat({ max: 1 }),
      times: fc.constantFrom(1, 1, 1, 1, 2, 4, 9),
    }),
  },
  {
    weight: 24,
    arbitrary: fc.record({
      kind: fc.constant('clock'),
      by: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...MOVES) },
        // Stored responses have then expired.
        { weight: 1, arbitrary: fc.constantFrom(DAY - 1, DAY) },
        { weight: 1, arbitrary: fc.constantFrom(...MOVES).map((by) => -by) },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('restart') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('events'), instance: fc.nat({ max: 1 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('command'), command }) },
)

/** A day of the service, of at most this many steps; short ones are no likelier than long ones. */
export function stepsOf(most: number): fc.Arbitrary<Step[]> {
  return fc.noBias(fc.array(step, { maxLength: most, size: 'max' }))
}
