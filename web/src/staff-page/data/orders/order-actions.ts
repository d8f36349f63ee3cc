import {
  type Input,
  isPetstoreError,
  type NewBasket,
  type Order,
  type OrderChange,
  type PetstoreClient,
} from '@petstore/client'
import { State } from '../observable.ts'
import type { StockModel } from '../stock/stock-model.ts'
import { showProblem, showToast } from '../toasts.ts'
import { linesWords, orderFailure } from './order-words.ts'

/** An action on one order. */
export type OrderWork =
  /** The user is asked first: neither can be undone. */
  | { readonly kind: 'asking'; readonly about: 'complete' | 'cancel' }
  | { readonly kind: 'working'; readonly words: string }
  | { readonly kind: 'failed'; readonly reason: string }

export type OrderWorks = ReadonlyMap<bigint, OrderWork>

interface ActionContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly signal: AbortSignal
  /** Reloads the lists of orders. Without a connection no event does. */
  readonly onChanged: () => void
}

/**
 * Completes and cancels orders, and reports the progress.
 *
 * Neither can be undone, so the row asks first. A delay before the request would show the order as complete here and as
 * open everywhere else, and would be lost with the tab.
 */
export class OrderActions extends State<OrderWorks> {
  readonly #context: ActionContext

  constructor(context: ActionContext) {
    super(new Map())
    this.#context = context
  }

  isWorking(): boolean {
    return [...this.get().values()].some(({ kind }) => kind === 'working')
  }

  ask(orderId: bigint, about: 'complete' | 'cancel'): void {
    this.#show(orderId, { kind: 'asking', about })
  }

  dismiss(orderId: bigint): void {
    this.#show(orderId, undefined)
  }

  /** Hands the order over, also if its hold has expired and its units are still free. */
  complete(order: Order): Promise<void> {
    return this.#work(order, 'Completing', async () => {
      const { client, signal } = this.#context
      const evenIfExpired = order.state === 'expired' || undefined
      // Throws `order_closed` if somebody else has completed the order.
      await client.orders.update(order.id, { complete: true, onlyIfOpen: true, evenIfExpired }, { signal })
      notify(`Order ${order.id} is complete: ${this.#items(order)} taken out of the stock.`)
    })
  }

  cancel(order: Order): Promise<void> {
    return this.#work(order, 'Cancelling', async () => {
      const { client, signal } = this.#context
      await client.orders.cancel(order.id, { signal })
      notify(`Order ${order.id} is cancelled: ${this.#items(order)} no longer reserved.`)
    })
  }

  /** Throws if the service does. The same key never makes two orders. */
  async create(draft: Input<NewBasket>, idempotencyKey: string): Promise<void> {
    const { client, signal, onChanged } = this.#context
    const order = await client.orders.create(draft, { signal, idempotencyKey })
    notify(`Order ${order.id} is made: ${this.#items(order)} reserved.`)
    onChanged()
  }

  /** Throws if the service does. */
  async change(orderId: bigint, change: Input<OrderChange>): Promise<void> {
    const { client, signal, onChanged } = this.#context
    const order = await client.orders.update(orderId, change, { signal })
    notify(`Order ${order.id} is changed: ${this.#items(order)} reserved.`)
    onChanged()
  }

  async #work(order: Order, words: string, act: () => Promise<void>): Promise<void> {
    const { id } = order
    const { stock, signal, onChanged } = this.#context
    if (this.get().get(id)?.kind === 'working') return
    this.#show(id, { kind: 'working', words })
    try {
      await act()
      this.#show(id, undefined)
    } catch (error) {
      if (signal.aborted) return
      const failure = orderFailure(error, (petId) => stock.nameOf(petId))
      const isShort = isPetstoreError(error, 'insufficient_stock')
      const reason = isShort ? `${failure} Correct the stock, or change the order.` : failure
      this.#show(id, { kind: 'failed', reason })
      showProblem('order', `Order ${id}: ${reason}`)
    }
    onChanged()
  }

  #items({ lines }: Order): string {
    const isOne = lines.length === 1 && lines[0]?.quantity === 1
    return `${linesWords(lines, (petId) => this.#context.stock.nameOf(petId))} ${isOne ? 'is' : 'are'}`
  }

  #show(orderId: bigint, work: OrderWork | undefined): void {
    const works = new Map(this.get())
    if (work === undefined) works.delete(orderId)
    else works.set(orderId, work)
    this.setValue(works)
  }
}

function notify(text: string): void {
  showToast({ name: 'order', text })
}
