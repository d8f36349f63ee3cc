import { PetstoreClient } from '@petstore/client'
import { BulkChanges } from '../stock/bulk-changes.ts'
import { Observable, type Readable } from '../stock/observable.ts'
import { OwnChanges } from '../stock/own-changes.ts'
import { StockEditor } from '../stock/stock-editor.ts'
import { StockFeed } from '../stock/stock-feed.ts'
import { StockModel } from '../stock/stock-model.ts'
import { UndoHistory } from '../stock/undo-history.ts'
import { FIRST_TABLE_STATE } from '../table/table-state.ts'
import { RequestWatch } from './request-watch.ts'

export interface KeyOwner {
  readonly id: string
  readonly name: string
  readonly plan: string
}

/** Everything that belongs to one signed-in key, and goes with it. */
export class Session {
  readonly client: PetstoreClient
  readonly stock = new StockModel()
  readonly requests: RequestWatch
  readonly editor: StockEditor
  readonly undo = new UndoHistory()
  readonly bulk: BulkChanges
  readonly feed: StockFeed
  readonly table = new Observable(FIRST_TABLE_STATE)
  /** Whose key it is; `undefined` until the service has told. */
  readonly owner: Readable<KeyOwner | undefined>
  readonly #owner = new Observable<KeyOwner | undefined>(undefined)
  readonly #ending = new AbortController()

  constructor(apiKey: string, onRefusedKey: () => void) {
    this.requests = new RequestWatch(onRefusedKey)
    const baseUrl = new URL('v1', document.baseURI).href
    this.client = new PetstoreClient({ baseUrl, apiKey, fetch: this.requests.fetch })
    const { client, stock } = this
    const signal = this.#ending.signal
    const own = new OwnChanges()
    this.owner = this.#owner
    this.editor = new StockEditor({ client, stock, own, signal }, this.undo)
    this.bulk = new BulkChanges({ client, stock, own, signal }, this.undo)
    this.feed = new StockFeed({ client, stock, own, requests: this.requests, signal })
  }

  /** Throws where the key is not valid, or the service does not answer. */
  async checkKey(): Promise<void> {
    const { key, plan } = await this.client.getLimits({ signal: this.#ending.signal })
    this.#owner.set({ ...key, plan })
  }

  /** Ends every request and drops all data. */
  end(): void {
    this.#ending.abort(new DOMException('signed out', 'AbortError'))
    this.requests.stop()
    this.editor.clear()
    this.bulk.clear()
    this.undo.clear()
    this.stock.clear()
    this.table.set(FIRST_TABLE_STATE)
    this.#owner.set(undefined)
  }
}
