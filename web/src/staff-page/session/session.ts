import { type CallOptions, type KeyLimits, type Permission, PetstoreClient } from '@petstore/client'
import { Categories } from '../data/catalog/categories.ts'
import { KeyNames } from '../data/key-names.ts'
import { Observable, type Readable } from '../data/observable.ts'
import { OrderActions } from '../data/orders/order-actions.ts'
import { OPEN_ORDERS } from '../data/orders/order-search.ts'
import { RequestWatch } from '../data/request-watch.ts'
import { BulkChanges } from '../data/stock/bulk-changes.ts'
import { OwnChanges, type SaveContext } from '../data/stock/own-request.ts'
import { PetLoader } from '../data/stock/pet-loader.ts'
import { StockEditor } from '../data/stock/stock-editor.ts'
import { StockFeed } from '../data/stock/stock-feed.ts'
import { StockModel } from '../data/stock/stock-model.ts'
import { FIRST_TABLE_STATE } from '../data/stock/table-state.ts'
import { UndoHistory } from '../data/stock/undo-history.ts'
import { Webhooks } from '../data/webhooks/webhooks.ts'

export interface KeyOwner {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly permissions: readonly Permission[]
}

/** How long to wait before the owner is requested again. */
const OWNER_RETRY_MS = 2_000
/** People may change the name and the permissions at any time. */
const OWNER_EVERY_MS = 10_000

/** Everything that belongs to one signed-in key and ends with it. */
export class Session {
  readonly client: PetstoreClient
  readonly stock = new StockModel()
  readonly saving: SaveContext
  readonly requests: RequestWatch
  readonly editor: StockEditor
  readonly undo = new UndoHistory()
  readonly bulk: BulkChanges
  readonly feed: StockFeed
  readonly pets: PetLoader
  readonly orderActions: OrderActions
  readonly webhooks: Webhooks
  readonly keyNames: KeyNames
  readonly categories: Categories
  readonly table = new Observable(FIRST_TABLE_STATE)
  readonly orderFilter = new Observable(OPEN_ORDERS)
  /** The owner of the key; `undefined` until the service has answered. */
  readonly owner: Readable<KeyOwner | undefined>
  readonly #owner = new Observable<KeyOwner | undefined>(undefined)
  /** How much of its limits the key has used. */
  readonly limits: Readable<KeyLimits | undefined>
  readonly #limits = new Observable<KeyLimits | undefined>(undefined)
  readonly #ending = new AbortController()

  constructor(apiKey: string, onRefusedKey: () => void) {
    this.requests = new RequestWatch(onRefusedKey)
    const baseUrl = new URL('v1', document.baseURI).href
    this.client = new PetstoreClient({ baseUrl, apiKey, fetch: this.#fetch })
    const { client, stock } = this
    const signal = this.#ending.signal
    this.owner = this.#owner
    this.limits = this.#limits
    const { timeOfAction } = this.requests.clock
    this.saving = { client, stock, own: new OwnChanges(), signal, timeOfAction }
    this.editor = new StockEditor(this.saving, this.undo)
    this.bulk = new BulkChanges(this.saving, this.undo)
    this.feed = new StockFeed({ ...this.saving, requests: this.requests })
    this.pets = new PetLoader(this.saving, this.feed.read)
    const onChanged = () => this.feed.orders.publish({ type: 'missed' })
    this.orderActions = new OrderActions({ client, stock, signal, onChanged })
    this.categories = new Categories({ client, stock, events: this.feed.events, signal })
    this.webhooks = new Webhooks(client.webhooks, signal)
    this.keyNames = new KeyNames(client.keys, signal)
  }

  /** Throws if the key is not valid, or the service does not answer. */
  async checkKey(): Promise<void> {
    await this.#readOwner({})
  }

  /** Requests the owner until the service answers: work that is kept for its owner waits for that. */
  async findOwner(): Promise<void> {
    const { signal } = this.#ending
    while (this.#owner.get() === undefined && !signal.aborted) {
      await this.checkKey().catch(() => new Promise((resolve) => setTimeout(resolve, OWNER_RETRY_MS)))
    }
  }

  start(): void {
    this.categories.start()
    this.feed.start()
    this.#followOwner()
  }

  /** A request that the key may not make shows that its permissions have changed. */
  readonly #fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await this.requests.fetch(url, init)
    if (response.status === 403) this.refreshOwner()
    return response
  }

  /** Requests to GET /limits do not count towards the limits of the key. */
  async #readOwner(options: CallOptions): Promise<void> {
    const { signal } = this.#ending
    const limits = await this.client.limits.get({ signal, ...options })
    this.#limits.set(limits)
    const { key, plan, permissions } = limits
    const owner = { ...key, plan, permissions }
    if (JSON.stringify(owner) !== JSON.stringify(this.#owner.get())) this.#owner.set(owner)
  }

  /** Requests the owner and the limits again. */
  readonly refreshOwner = (): void => {
    if (document.visibilityState === 'visible') void this.#readOwner({ retries: 0 }).catch(() => {})
  }

  #followOwner(): void {
    const { signal } = this.#ending
    const timer = setInterval(this.refreshOwner, OWNER_EVERY_MS)
    signal.addEventListener('abort', () => clearInterval(timer))
    addEventListener('focus', this.refreshOwner, { signal })
    document.addEventListener('visibilitychange', this.refreshOwner, { signal })
  }

  /** Ends every request. */
  end(): void {
    this.#ending.abort(new DOMException('signed out', 'AbortError'))
  }
}
