import fc from 'fast-check'
import { BAD_ORDER_UPDATES, BAD_ORDERS } from './requests.ts'

export interface OrderCall {
  readonly kind: 'order'
  /** Index of an invalid body; other numbers stand for the valid one. */
  readonly body: number
  readonly pet: number
  readonly quantity: number
  readonly holdSeconds: number | undefined
  readonly shipDate: number
}

/** Sets a ship date, or completes the order without one. */
export interface OrderUpdateCall {
  readonly kind: 'order-update'
  readonly body: number
  readonly order: number
  readonly shipDate: number
}

export interface CancelCall {
  readonly kind: 'cancel'
  readonly order: number
}

export interface OrderPageCall {
  readonly kind: 'order-page'
  readonly state: string | undefined
  readonly pet: number | undefined
  readonly limit: number
  readonly follows: boolean
}

/** Some more often than others, so that requests meet the results of earlier ones. */
export const pet = fc.oneof(
  { weight: 2, arbitrary: fc.nat({ max: 2 }) },
  { weight: 1, arbitrary: fc.nat({ max: 11 }) },
)
export const follows = fc.boolean()
export const limit = fc.constantFrom(1, 2, 3, 20, 100)

const order = fc.nat({ max: 12 })
const shipDate = fc.constantFrom(0, 0, 0, 1, 2)

export const orderCall: fc.Arbitrary<
  | OrderCall
  | OrderUpdateCall
  | CancelCall
  | OrderPageCall
  | { readonly kind: 'availability'; readonly pet: number }
  | { readonly kind: 'one-order'; readonly order: number }
> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('order'),
      body: fc.nat({ max: 12 * BAD_ORDERS.length }),
      pet,
      quantity: fc.constantFrom(1, 1, 2, 3),
      // Some that a move of the clock ends, to the millisecond.
      holdSeconds: fc.constantFrom(undefined, undefined, 1, 30, 60, 2_592_000),
      shipDate,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('order-update'),
      body: fc.nat({ max: 12 * BAD_ORDER_UPDATES.length }),
      order,
      shipDate,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel'), order }) },
  fc.record({ kind: fc.constant('availability'), pet }),
  fc.record({ kind: fc.constant('one-order'), order }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('order-page'),
      state: fc.option(fc.constantFrom('open', 'complete', 'cancelled', 'expired'), { nil: undefined }),
      pet: fc.option(pet, { nil: undefined, freq: 2 }),
      limit,
      follows,
    }),
  },
)
