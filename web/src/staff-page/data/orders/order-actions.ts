import { isPetstoreError, type NewOrder, type Order } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { LiveChanges } from '../history/live-changes.ts'
import { Observable, type Readable } from '../observable.ts'
import type { StockModel } from '../stock/stock-model.ts'
import { showToast } from '../toasts.ts'
import type { OrderCalls } from './order-calls.ts'
import { whatWords } from './order-words.ts'

/** What is being done with one order. */
export type OrderWork =
  /** The user is asked whether it is to be completed: that cannot be taken back. */
  | { readonly kind: 'asking' }
  | { readonly kind: 'working'; readonly words: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'ordered again'; readonly as: bigint }

export type OrderWorks = ReadonlyMap<bigint, OrderWork>

interface ActionContext {
  readonly calls: OrderCalls
  readonly stock: StockModel
  /** The time on the service's clock. */
  readonly now: () => number
  readonly signal: AbortSignal
}

/**
 * Completes, cancels and repeats orders, and tells how that stands.
 *
 * Completing cannot be undone, so it is asked for in two steps, in the row itself. A grace period before it is sent
 * would look done to the one who pressed it and open to everybody else, and be lost with the tab. Cancelling is sent
 * at once; what takes it back is another order for the same, where that much is still available.
 */
export class OrderActions implements Readable<OrderWorks> {
  /** Orders as the service answered with them. */
  readonly answered = new LiveChanges<Order>()
  readonly #works = new Observable<OrderWorks>(new Map())
  readonly #context: ActionContext

  readonly get = this.#works.get
  readonly subscribe = this.#works.subscribe

  constructor(context: ActionContext) {
    this.#context = context
  }

  isWorking(): boolean {
    return [...this.get().values()].some(({ kind }) => kind === 'working')
  }

  /** Asks whether it is to be completed. */
  ask(orderId: bigint): void {
    this.#show(orderId, { kind: 'asking' })
  }

  dismiss(orderId: bigint): void {
    this.#show(orderId, undefined)
  }

  complete(order: Order): Promise<void> {
    return this.#work(order, 'Completing', async () => {
      this.#answer(await this.#context.calls.complete(order.id))
      tell(`Order ${order.id} is complete: ${this.#what(order)} taken out of the stock.`)
      return undefined
    })
  }

  cancel(order: Order): Promise<void> {
    return this.#work(order, 'Cancelling', async () => {
      const { calls } = this.#context
      await calls.cancel(order.id)
      // A hold that had ended before is expired, not cancelled, and the answer is the same.
      const after = await calls.get(order.id)
      this.#answer(after)
      const what = after.state === 'expired' ? 'had expired before' : 'is cancelled'
      const action = { label: 'Order again', run: () => void this.orderAgain(after) }
      tell(`Order ${order.id} ${what}: ${this.#what(order)} no longer reserved.`, action)
      return undefined
    })
  }

  /** Makes another order for the same. A hold ends when the first one would have, or lasts as long as that did. */
  orderAgain(order: Order): Promise<void> {
    if (this.get().get(order.id) !== undefined && this.get().get(order.id)?.kind !== 'failed')
      return Promise.resolve()
    return this.#work(order, 'Ordering', async () => {
      const { petId, quantity, shipDate } = order
      const holdSeconds = holdAgain(order, this.#context.now())
      const made = await this.#create({
        petId,
        quantity,
        ...(shipDate === undefined ? {} : { shipDate }),
        ...(holdSeconds === undefined ? {} : { holdSeconds }),
      })
      return { kind: 'ordered again', as: made.id }
    })
  }

  /** Throws with words for the user where it cannot be made. */
  async order(draft: NewOrder): Promise<void> {
    try {
      await this.#create(draft)
    } catch (error) {
      throw new Error(await this.#reason(error, draft), { cause: error })
    }
  }

  clear(): void {
    this.#works.set(new Map())
  }

  async #create(draft: NewOrder): Promise<Order> {
    const made = await this.#context.calls.create(draft)
    this.#answer(made)
    tell(`Order ${made.id} is made: ${this.#what(made)} reserved.`)
    return made
  }

  async #work(order: Order, words: string, act: () => Promise<OrderWork | undefined>): Promise<void> {
    const { id } = order
    if (this.get().get(id)?.kind === 'working') return
    this.#show(id, { kind: 'working', words })
    try {
      this.#show(id, await act())
    } catch (error) {
      const reason = await this.#reason(error, order)
      if (this.#context.signal.aborted) return
      this.#show(id, { kind: 'failed', reason })
      showToast({ name: 'order', tone: 'negative', text: `Order ${id}: ${reason}` })
    }
  }

  async #reason(error: unknown, order: Order | NewOrder): Promise<string> {
    const { calls } = this.#context
    try {
      if (isPetstoreError(error, 'order_closed') && 'id' in order) {
        const now = await calls.get(order.id)
        this.#answer(now)
        return CLOSED_WORDS[now.state]
      }
      if (isPetstoreError(error, 'insufficient_stock')) {
        const { available, quantity } = await calls.availability(order.petId)
        return 'id' in order && order.state === 'open'
          ? `It takes ${count(order.quantity)}, but ${onlyWords(quantity)} in stock. Correct the stock, or cancel the order.`
          : `${available <= 0 ? 'None' : `Only ${count(available)}`} can be ordered now, not ${count(order.quantity)}.`
      }
    } catch {
      // What was refused is known well enough without the rest.
    }
    if (isPetstoreError(error) && error.mayHaveBeenMade && !('state' in order && order.state === 'open')) {
      return 'No answer came, so it may have been ordered. Look among the open orders before you try again.'
    }
    if (isPetstoreError(error, 'order_closed')) return 'Somebody else closed it in the meantime.'
    return failureWords(error)
  }

  #answer(order: Order): void {
    this.answered.tell({ type: 'change', change: order })
  }

  #what(order: Order): string {
    const what = whatWords(order, this.#context.stock.find(order.petId)?.name)
    return `${what} ${order.quantity === 1 ? 'is' : 'are'}`
  }

  #show(orderId: bigint, work: OrderWork | undefined): void {
    const works = new Map(this.get())
    if (work === undefined) works.delete(orderId)
    else works.set(orderId, work)
    this.#works.set(works)
  }
}

/** Why an order that somebody wanted to complete or to cancel is not to be had any more. */
const CLOSED_WORDS: Readonly<Record<Order['state'], string>> = {
  open: 'It could not be changed just now. Try again.',
  complete: 'Somebody else completed it in the meantime, so it cannot be cancelled any more.',
  cancelled: 'Somebody else cancelled it in the meantime. Nothing was taken out of the stock.',
  expired: 'Its hold ended before that. Nothing was taken out of the stock.',
}

function holdAgain({ createdAt, expiresAt }: Order, now: number): number | undefined {
  if (expiresAt === undefined) return undefined
  const [from, until] = [Date.parse(createdAt), Date.parse(expiresAt)]
  return Math.max(1, Math.round((until - (until > now ? now : from)) / 1_000))
}

function tell(text: string, action?: { readonly label: string; readonly run: () => void }): void {
  showToast({ name: 'order', text, ...(action === undefined ? {} : { action }) })
}

function onlyWords(quantity: number): string {
  if (quantity === 0) return 'none is'
  return quantity === 1 ? 'only 1 is' : `only ${count(quantity)} are`
}

function count(quantity: number): string {
  return quantity.toLocaleString('en')
}
