import { isPetstoreError, type Order, type PetstoreClient } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { LiveChanges } from '../history/live-changes.ts'
import { State } from '../observable.ts'
import type { StockModel } from '../stock/stock-model.ts'
import { showProblem, showToast, type Toast } from '../toasts.ts'
import { itemWords } from './order-words.ts'

/** An action on one order. */
export type OrderWork =
  /** The user is asked whether to complete it, which cannot be undone. */
  | { readonly kind: 'asking' }
  | { readonly kind: 'working'; readonly words: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'ordered again'; readonly as: bigint }

export type OrderWorks = ReadonlyMap<bigint, OrderWork>

type OrderDraft = Parameters<PetstoreClient['orders']['create']>[0] & { readonly petId: bigint }

interface ActionContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  /** The time on the service's clock. */
  readonly now: () => number
  readonly signal: AbortSignal
}

/**
 * Completes, cancels and repeats orders, and reports the progress.
 *
 * Completing cannot be undone, so the row asks first. A delay before the request would show the order as complete here
 * and as open everywhere else, and would be lost with the tab. Cancelling is sent at once: another order for the same
 * undoes it, if enough units are free.
 */
export class OrderActions extends State<OrderWorks> {
  /** Orders in responses of the service. */
  readonly answered = new LiveChanges<Order>()
  readonly #context: ActionContext

  constructor(context: ActionContext) {
    super(new Map())
    this.#context = context
  }

  isWorking(): boolean {
    return [...this.get().values()].some(({ kind }) => kind === 'working')
  }

  ask(orderId: bigint): void {
    this.#show(orderId, { kind: 'asking' })
  }

  dismiss(orderId: bigint): void {
    this.#show(orderId, undefined)
  }

  complete(order: Order): Promise<void> {
    return this.#work(order, 'Completing', async () => {
      const { client, signal } = this.#context
      // Throws `order_closed` if somebody else has completed the order.
      this.#answer(await client.orders.update(order.id, { complete: true, onlyIfOpen: true }, { signal }))
      notify(`Order ${order.id} is complete: ${this.#items(order)} taken out of the stock.`)
      return undefined
    })
  }

  cancel(order: Order): Promise<void> {
    return this.#work(order, 'Cancelling', async () => {
      const { client, signal } = this.#context
      await client.orders.cancel(order.id, { signal })
      // The response is the same if the hold had already expired.
      const after = await client.orders.get(order.id, { signal })
      this.#answer(after)
      const outcome = after.state === 'expired' ? 'had already expired' : 'is cancelled'
      const action = { label: 'Order again', run: () => void this.orderAgain(after) }
      notify(`Order ${order.id} ${outcome}: ${this.#items(order)} no longer reserved.`, action)
      return undefined
    })
  }

  /** Creates the same order again. A hold ends when the first one would have ended, or lasts as long. */
  orderAgain(order: Order): Promise<void> {
    const work = this.get().get(order.id)
    if (work !== undefined && work.kind !== 'failed') return Promise.resolve()
    return this.#work(order, 'Ordering', async () => {
      const { petId, quantity, shipDate, customer, note } = order
      const holdSeconds = holdAgain(order, this.#context.now())
      const made = await this.#create({ petId, quantity, shipDate, customer, note, holdSeconds })
      return { kind: 'ordered again', as: made.id }
    })
  }

  /** Throws an error whose message is for the user. */
  async order(draft: OrderDraft): Promise<void> {
    try {
      await this.#create(draft)
    } catch (error) {
      throw new Error(await this.#reason(error, draft), { cause: error })
    }
  }

  async #create(draft: OrderDraft): Promise<Order> {
    const { client, signal } = this.#context
    const made = await client.orders.create(draft, { signal })
    this.#answer(made)
    notify(`Order ${made.id} is made: ${this.#items(made)} reserved.`)
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
      showProblem('order', `Order ${id}: ${reason}`)
    }
  }

  async #reason(error: unknown, order: Order | OrderDraft): Promise<string> {
    const { client, signal } = this.#context
    const existing = 'id' in order ? order : undefined
    try {
      if (isPetstoreError(error, 'order_closed') && existing !== undefined) {
        const now = await client.orders.get(existing.id, { signal })
        this.#answer(now)
        return CLOSED_WORDS[now.state]
      }
      if (isPetstoreError(error, 'insufficient_stock')) {
        const { available, quantity } = await client.inventory.availability(order.petId, { signal })
        return existing?.state === 'open'
          ? `It takes ${count(order.quantity)}, but ${onlyWords(quantity)} in stock. Correct the stock, or cancel the order.`
          : `${available <= 0 ? 'None' : `Only ${count(available)}`} can be ordered now, not ${count(order.quantity)}.`
      }
    } catch {
      // The refusal is known without these details.
    }
    if (isPetstoreError(error) && error.mayHaveBeenMade && existing?.state !== 'open') {
      return 'Not sure it was ordered. Look among the open orders before you try again.'
    }
    if (isPetstoreError(error, 'order_closed')) return 'Somebody else closed it in the meantime.'
    return failureWords(error)
  }

  #answer(order: Order): void {
    this.answered.publish({ type: 'change', change: order })
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

function holdAgain({ createdAt, expiresAt }: Order, now: number): number | undefined {
  if (expiresAt === undefined) return undefined
  const [from, until] = [Date.parse(createdAt), Date.parse(expiresAt)]
  return Math.max(1, Math.round((until - (until > now ? now : from)) / 1_000))
}

function notify(text: string, action?: Toast['action']): void {
  showToast({ name: 'order', text, action })
}

function onlyWords(quantity: number): string {
  if (quantity === 0) return 'none is'
  return quantity === 1 ? 'only 1 is' : `only ${count(quantity)} are`
}

function count(quantity: number): string {
  return quantity.toLocaleString('en')
}
