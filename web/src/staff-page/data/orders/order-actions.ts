import { isPetstoreError, type Order, type PetstoreClient } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { LiveChanges } from '../history/live-changes.ts'
import { State } from '../observable.ts'
import type { StockModel } from '../stock/stock-model.ts'
import { showProblem, showToast } from '../toasts.ts'
import { itemWords } from './order-words.ts'

/** An action on one order. */
export type OrderWork =
  /** The user is asked first: neither can be undone. */
  | { readonly kind: 'asking'; readonly about: 'complete' | 'cancel' }
  | { readonly kind: 'working'; readonly words: string }
  | { readonly kind: 'failed'; readonly reason: string }

export type OrderWorks = ReadonlyMap<bigint, OrderWork>

type OrderDraft = Parameters<PetstoreClient['orders']['create']>[0] & { readonly petId: bigint }

interface ActionContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly signal: AbortSignal
}

/**
 * Completes and cancels orders, and reports the progress.
 *
 * Neither can be undone, so the row asks first. A delay before the request would show the order as complete here and as
 * open everywhere else, and would be lost with the tab.
 */
export class OrderActions extends State<OrderWorks> {
  /** The orders that this page has changed, or whose change was refused. */
  readonly own = new LiveChanges<bigint>()
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

  complete(order: Order): Promise<void> {
    return this.#work(order, 'Completing', async () => {
      const { client, signal } = this.#context
      // Throws `order_closed` if somebody else has completed the order.
      await client.orders.update(order.id, { complete: true, onlyIfOpen: true }, { signal })
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

  /** Throws an error whose message is for the user. */
  async order(draft: OrderDraft): Promise<void> {
    const { client, signal } = this.#context
    try {
      const made = await client.orders.create(draft, { signal })
      this.own.publish({ type: 'change', change: made.id })
      notify(`Order ${made.id} is made: ${this.#items(made)} reserved.`)
    } catch (error) {
      throw new Error(refusalWords(error, draft, { isOpen: false }), { cause: error })
    }
  }

  async #work(order: Order, words: string, act: () => Promise<void>): Promise<void> {
    const { id } = order
    if (this.get().get(id)?.kind === 'working') return
    this.#show(id, { kind: 'working', words })
    try {
      await act()
      this.#show(id, undefined)
    } catch (error) {
      if (this.#context.signal.aborted) return
      const reason = refusalWords(error, order, { isOpen: true })
      this.#show(id, { kind: 'failed', reason })
      showProblem('order', `Order ${id}: ${reason}`)
    }
    this.own.publish({ type: 'change', change: id })
  }

  #items(order: Order): string {
    const items = itemWords(order, this.#context.stock.find(order.petId)?.name)
    return `${items} ${order.quantity === 1 ? 'is' : 'are'}`
  }

  #show(orderId: bigint, work: OrderWork | undefined): void {
    const works = new Map(this.get())
    if (work === undefined) works.delete(orderId)
    else works.set(orderId, work)
    this.setValue(works)
  }
}

/** Why an order could not be completed or cancelled, by its state. */
const CLOSED_WORDS: Readonly<Record<Order['state'], string>> = {
  open: 'It could not be changed just now. Try again.',
  complete: 'Somebody else already completed it. You changed nothing.',
  cancelled: 'Somebody else already cancelled it. Nothing was taken out of the stock.',
  expired: 'Its hold had already ended. Nothing was taken out of the stock.',
}

function refusalWords(
  error: unknown,
  { quantity }: Pick<Order, 'quantity'>,
  { isOpen }: { readonly isOpen: boolean },
): string {
  const [detail] = isPetstoreError(error) ? error.details : []
  if (detail?.code === 'order_closed' && detail.state !== undefined) return CLOSED_WORDS[detail.state]
  const { available } = detail ?? {}
  if (detail?.code === 'insufficient_stock' && available !== undefined) {
    return isOpen
      ? `It takes ${count(quantity)}, but ${onlyWords(available)} in stock. Correct the stock, or cancel the order.`
      : `${available <= 0 ? 'None' : `Only ${count(available)}`} can be ordered now, not ${count(quantity)}.`
  }
  if (!isOpen && isPetstoreError(error) && error.mayHaveBeenMade) {
    return 'Not sure it was ordered. Look among the open orders before you try again.'
  }
  return failureWords(error)
}

function notify(text: string): void {
  showToast({ name: 'order', text })
}

function onlyWords(quantity: number): string {
  if (quantity === 0) return 'none is'
  return quantity === 1 ? 'only 1 is' : `only ${count(quantity)} are`
}

function count(quantity: number): string {
  return quantity.toLocaleString('en')
}
