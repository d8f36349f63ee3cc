import type { WebhookDelivery } from '@petstore/client'
import { Observable, type Readable } from '../observable.ts'
import { webhookFailure } from './webhook-words.ts'

interface DeliveryPage {
  readonly items: readonly WebhookDelivery[]
  readonly next: string | undefined
}

export interface DeliveriesSnapshot {
  /** The newest first; `undefined` until some were read. */
  readonly deliveries: readonly WebhookDelivery[] | undefined
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly failure: string | undefined
}

/** What was sent for one webhook, as far as it was asked for. */
export class DeliveryList implements Readable<DeliveriesSnapshot> {
  readonly #snapshot = new Observable<DeliveriesSnapshot>({
    ...{ deliveries: undefined, hasMore: false, isLoading: false, failure: undefined },
  })
  readonly #read: (cursor: string | undefined) => Promise<DeliveryPage>
  #next: string | undefined
  /** One request at a time, so that the pages fit together. */
  #last: Promise<void> = Promise.resolve()

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(read: (cursor: string | undefined) => Promise<DeliveryPage>) {
    this.#read = read
  }

  /** What has come since, and where that is more than a page, only that. */
  readonly refresh = (): Promise<void> =>
    this.#queue(async () => {
      const page = await this.#read(undefined)
      const loaded = this.get().deliveries ?? []
      const joined = withNewest(loaded, page.items)
      if (joined === page.items) this.#next = page.next
      return joined
    })

  readonly loadMore = (): Promise<void> =>
    this.#queue(async () => {
      const loaded = this.get().deliveries ?? []
      if (this.#next === undefined) return loaded
      const { items, next } = await this.#read(this.#next)
      this.#next = next
      return [...loaded, ...items]
    })

  #queue(load: () => Promise<readonly WebhookDelivery[]>): Promise<void> {
    this.#last = this.#last.then(async () => {
      this.#set({ isLoading: true, failure: undefined })
      try {
        const deliveries = await load()
        this.#set({ deliveries, hasMore: this.#next !== undefined, isLoading: false })
      } catch (error) {
        this.#set({ failure: webhookFailure(error), isLoading: false })
      }
    })
    return this.#last
  }

  #set(changes: Partial<DeliveriesSnapshot>): void {
    this.#snapshot.set({ ...this.get(), ...changes })
  }
}

/** The newest before those that were loaded, where no gap is left in between; else the newest alone. */
function withNewest(
  loaded: readonly WebhookDelivery[],
  newest: readonly WebhookDelivery[],
): readonly WebhookDelivery[] {
  const first = loaded[0]
  const index = first === undefined ? -1 : newest.findIndex(({ id }) => id === first.id)
  return index === -1 ? newest : [...newest.slice(0, index), ...loaded]
}
