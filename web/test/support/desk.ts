import { afterAll, beforeAll } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import { TestService } from '../../../server/test/support/test-service.ts'
import { BulkChanges } from '../../src/staff-page/data/stock/bulk-changes.ts'
import { OwnChanges, type SaveContext } from '../../src/staff-page/data/stock/own-request.ts'
import { StockEditor } from '../../src/staff-page/data/stock/stock-editor.ts'
import { type StockItem, StockModel } from '../../src/staff-page/data/stock/stock-model.ts'
import { UndoHistory } from '../../src/staff-page/data/stock/undo-history.ts'

/** A change as it went out. */
interface SentChange {
  readonly idempotencyKey: string | null
  readonly body: string
}

/** What a page saves with, and a line to the service that can lose or hold the answers to changes. */
export class Desk {
  readonly stock = new StockModel()
  readonly own = new OwnChanges()
  readonly undo = new UndoHistory()
  readonly saving: SaveContext
  readonly editor: StockEditor
  readonly bulk: BulkChanges
  /** Every change that was sent. */
  readonly sent: SentChange[] = []
  /** Called before a change goes out. */
  beforeSending: () => void = () => {}
  /** Called once the service has decided on a change, and before its answer arrives. */
  beforeAnswer: () => Promise<void> | void = () => {}

  constructor(service: TestService, key = service.key) {
    const client = new PetstoreClient({
      baseUrl: `${service.address}/v1`,
      apiKey: key,
      fetch: (url, init) => this.#fetch(url, init),
      retries: 0,
    })
    const { signal } = new AbortController()
    this.saving = { client, stock: this.stock, own: this.own, signal, timeOfAction: Date.now }
    this.editor = new StockEditor(this.saving, this.undo)
    this.bulk = new BulkChanges(this.saving, this.undo)
  }

  /** A page on which every pet from 1 to this id has 10, whatever the service says by now. */
  open(lastPetId: number): this {
    const petIds = idsFrom(1, lastPetId)
    fillStock(
      this.stock,
      petIds.map((petId) => ({ petId, quantity: 10, status: 'available' })),
    )
    this.stock.setConnection('live')
    return this
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    if (init.method === 'GET') return fetch(url, init)
    const idempotencyKey = new Headers(init.headers).get('Idempotency-Key')
    this.sent.push({ idempotencyKey, body: String(init.body) })
    this.beforeSending()
    const answer = await fetch(url, init)
    await Promise.race([this.beforeAnswer(), aborted(init.signal)])
    return answer
  }
}

/** A service for all tests of a file. */
export function useService(options: Parameters<typeof TestService.start>[0] = {}) {
  const started: { service?: TestService } = {}
  const service = () => {
    if (started.service === undefined) throw new Error('the service is not started')
    return started.service
  }
  beforeAll(async () => {
    started.service = await TestService.start({ realTime: true, ...options })
  })
  afterAll(() => started.service?.stop())
  return {
    service,
    inStock: async (petId: bigint): Promise<number> =>
      (await service().call('GET', `/inventory/${petId}`)).item.quantity,
    openDesk: (key?: string) => new Desk(service(), key),
  }
}

/** Makes these pets the whole store. */
export function fillStock(stock: StockModel, items: readonly StockItem[]): void {
  stock.take(items)
  stock.endLoading(new Set(items.map(({ petId }) => petId)))
}

export function idsFrom(first: number, last: number): readonly bigint[] {
  return Array.from({ length: last - first + 1 }, (_, index) => BigInt(first + index))
}

/** For `beforeSending` and `beforeAnswer`: the change, or the answer to it, never arrives. */
export function breakOff(): never {
  throw new TypeError('the connection broke')
}

function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}
