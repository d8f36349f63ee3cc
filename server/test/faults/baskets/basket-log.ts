import {
  COMPLETE_STATE,
  EXPIRED_STATE,
  type OrderChange,
  type OrderState,
  stateRules,
} from '../../../src/core/orders/order.ts'
import { type BasketLine, linesText, OVERRIDDEN_PET } from './basket-callers.ts'

/** An event of `GET /events`. */
export interface BasketEvent {
  readonly id: string
  readonly kind: string
  readonly change?: { readonly petId: number; readonly before: number; readonly after: number }
  readonly order?: {
    readonly change: OrderChange
    readonly orderId: number
    readonly state: OrderState
    readonly lines: readonly (BasketLine & { readonly reserved: number; readonly available: number })[]
  }
}

interface LoggedOrder {
  readonly state: OrderState
  readonly lines: readonly BasketLine[]
}

/** The stock and the orders as they follow from the events, which begin with an empty shelf. */
export class BasketLog {
  readonly orders = new Map<number, LoggedOrder>()
  readonly violations: string[] = []
  readonly counts = { expired: 0, paidLate: 0 }
  readonly #quantities = new Map<number, number>()
  readonly #reserved = new Map<number, number>()

  quantityOf(petId: number): number {
    return this.#quantities.get(petId) ?? 0
  }

  reservedOf(petId: number): number {
    return this.#reserved.get(petId) ?? 0
  }

  play({ change, order, kind }: BasketEvent): void {
    if (change !== undefined) this.#changeQuantity(change)
    else if (order !== undefined) this.#changeOrder(order)
    else this.violations.push(`the log has an event of the kind ${kind}`)
  }

  #changeQuantity({ petId, before, after }: NonNullable<BasketEvent['change']>): void {
    if (before !== this.quantityOf(petId)) {
      this.violations.push(
        `pet ${petId} had ${this.quantityOf(petId)}, but changed from ${before} to ${after}`,
      )
    }
    if (after < 0) this.violations.push(`pet ${petId} fell to ${after}`)
    this.#quantities.set(petId, after)
  }

  #changeOrder({ change, orderId, state, lines }: NonNullable<BasketEvent['order']>): void {
    const before = this.orders.get(orderId)
    if (change === 'created' && before !== undefined)
      this.violations.push(`order ${orderId} was created twice`)
    if (before?.state === COMPLETE_STATE)
      this.violations.push(`order ${orderId} is complete, but was ${change}`)
    if (change !== 'changed' && before !== undefined && linesText(before.lines) !== linesText(lines)) {
      this.violations.push(
        `order ${orderId} of ${linesText(before.lines)} was ${change} with ${linesText(lines)}`,
      )
    }
    this.#reserve(before, -1)
    this.#reserve({ state, lines }, 1)
    this.orders.set(orderId, { state, lines })
    if (change === 'expired') this.counts.expired++
    if (change === 'completed' && before?.state === EXPIRED_STATE) this.counts.paidLate++
    for (const { petId, reserved, available } of lines) {
      const [quantity, own] = [this.quantityOf(petId), this.reservedOf(petId)]
      if (reserved !== own || available !== quantity - own) {
        this.violations.push(
          `when order ${orderId} was ${change}, pet ${petId} had ${own} of ${quantity} reserved, not ${reserved} and ${available} available`,
        )
      }
      if (available < 0 && petId !== OVERRIDDEN_PET)
        this.violations.push(`pet ${petId} was oversold by ${orderId}`)
    }
  }

  #reserve(order: LoggedOrder | undefined, sign: 1 | -1): void {
    if (order === undefined || !stateRules(order.state).reserves) return
    for (const { petId, quantity } of order.lines) {
      this.#reserved.set(petId, this.reservedOf(petId) + sign * quantity)
    }
  }
}
