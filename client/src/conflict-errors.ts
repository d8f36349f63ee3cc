import type { ErrorDetail, OrderState } from './contract-types.ts'
import { type ErrorContext, PetstoreError, type PetstoreErrorCode } from './petstore-error.ts'

/** Less is there than was to be ordered or taken away; nothing was changed. */
export class InsufficientStockError extends PetstoreError {
  override readonly name = 'InsufficientStockError'
  declare readonly code: 'insufficient_stock'
  /** The pet; of an adjustment the first of which there is too little, and `details` has all of them. */
  readonly petId: bigint
  /** How many of it there were for this order or change, in the commit that refused it. */
  readonly available: number

  constructor(what: string, context: ErrorContext, petId: bigint, available: number) {
    super('insufficient_stock', what, context)
    this.petId = petId
    this.available = available
  }
}

/** The order is not open any more, so it cannot be changed so; nothing was. */
export class OrderClosedError extends PetstoreError {
  override readonly name = 'OrderClosedError'
  declare readonly code: 'order_closed'
  /** `expired` where its hold ran out. */
  readonly state: Exclude<OrderState, 'open'>

  constructor(what: string, context: ErrorContext, state: Exclude<OrderState, 'open'>) {
    super('order_closed', what, context)
    this.state = state
  }
}

/** One of the above where the answer told what it carries, else a plain `PetstoreError`. */
export function errorOf(code: PetstoreErrorCode, what: string, context: ErrorContext): PetstoreError {
  const { petId, available, state }: Partial<ErrorDetail> =
    context.details?.find((detail) => detail.code === code) ?? {}
  if (code === 'insufficient_stock' && petId !== undefined && available !== undefined) {
    return new InsufficientStockError(what, context, petId, available)
  }
  if (code === 'order_closed' && state !== undefined) return new OrderClosedError(what, context, state)
  return new PetstoreError(code, what, context)
}
