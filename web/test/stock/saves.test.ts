import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import { TestService } from '../../../server/test/support/test-service.ts'
import { BulkChanges } from '../../src/stock-page/stock/bulk-changes.ts'
import { OwnChanges } from '../../src/stock-page/stock/own-changes.ts'
import { StockEditor } from '../../src/stock-page/stock/stock-editor.ts'
import { StockModel } from '../../src/stock-page/stock/stock-model.ts'
import { UndoHistory } from '../../src/stock-page/stock/undo-history.ts'
import { undoLast } from '../../src/stock-page/stock/undo-last.ts'

let service: TestService

beforeAll(async () => {
  const pets = Array.from({ length: 60 }, (_, index) => ({
    id: BigInt(index + 1),
    name: `Pet ${index + 1}`,
    categoryId: 1n,
    status: 'available' as const,
    quantity: 10,
  }))
  service = await TestService.start({ pets, realTime: true })
})

afterAll(() => service.stop())

/** What a page saves with, and a line to the service that can lose or hold the answers to changes. */
class Desk {
  readonly stock = new StockModel()
  readonly own = new OwnChanges()
  readonly undo = new UndoHistory()
  readonly editor: StockEditor
  readonly bulk: BulkChanges
  /** How many changes were sent. */
  sent = 0
  /** Called once the service has made a change, and before its answer arrives. */
  beforeAnswer: () => Promise<void> | void = () => {}
  readonly #key: string

  constructor(key = service.key) {
    this.#key = key
    const client = new PetstoreClient({
      baseUrl: `${service.address}/v1`,
      apiKey: key,
      fetch: (url, init) => this.#fetch(url, init),
      retry: { limit: 0 },
    })
    const context = { client, stock: this.stock, own: this.own, signal: new AbortController().signal }
    this.editor = new StockEditor(context, this.undo)
    this.bulk = new BulkChanges(context, this.undo)
  }

  async open(): Promise<this> {
    const { items } = await service.call('GET', '/inventory', { key: this.#key })
    this.stock.replaceAll(
      items.map(({ petId }) => ({ petId: BigInt(petId), quantity: 10, status: 'available' })),
    )
    this.stock.setConnection('live')
    return this
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(url, init)
    if (init.method === 'PATCH') {
      this.sent++
      await this.beforeAnswer()
    }
    return answer
  }
}

const inStock = async (petId: bigint) => (await service.call('GET', `/inventory/${petId}`)).item.quantity
const seen = { quantity: 10, status: 'available' as const }
const breakOff = () => {
  throw new TypeError('the connection broke')
}

test('a change that was made though its answer was lost is saved when it is tried again', async () => {
  const desk = await new Desk().open()
  desk.beforeAnswer = breakOff
  expect((await desk.editor.save(1n, 5, seen)).kind).toBe('failed')
  desk.beforeAnswer = () => {}
  await desk.editor.retry(1n)
  expect(desk.editor.get().get(1n)?.kind).toBe('saved')
  expect(desk.undo.get()).toEqual([{ changes: [{ petId: 1n, before: 10, after: 5 }] }])
  expect(await inStock(1n)).toBe(5)
})

test('a row never says that it was saved while it shows what stood before', async () => {
  const desk = await new Desk().open()
  const shown: (number | undefined)[] = []
  desk.editor.subscribe(() => {
    if (desk.editor.get().get(50n)?.kind !== 'saved') return
    shown.push(desk.stock.get().rows.find(({ petId }) => petId === 50n)?.quantity)
  })
  // The second comes so soon that the list waits a moment before it shows it.
  await desk.editor.save(50n, 20, seen)
  await desk.editor.save(50n, 21, { ...seen, quantity: 20 })
  expect(shown).toEqual([20, 21])
})

test('what is added while an undo is under way is a change of its own', async () => {
  const desk = await new Desk().open()
  await desk.editor.save(2n, 20, seen)
  let stepping: Promise<void> | undefined
  desk.beforeAnswer = () => {
    stepping ??= desk.editor.step(2n, 1)
  }
  await undoLast(desk)
  await stepping
  expect(await inStock(2n)).toBe(11)
  expect(desk.undo.get()).toEqual([{ changes: [{ petId: 2n, before: 10, after: 11 }] }])
})

test('an undo that fails can be undone still, until it is tried again and made', async () => {
  const desk = await new Desk().open()
  await desk.editor.save(3n, 20, seen)
  desk.beforeAnswer = breakOff
  expect(await undoLast(desk)).toBeUndefined()
  expect(desk.undo.get()).toHaveLength(1)
  desk.beforeAnswer = () => {}
  await desk.editor.retry(3n)
  expect(desk.undo.get()).toEqual([])
  expect(await inStock(3n)).toBe(10)
})

test('an answer does not overwrite what came after it, though a new list came between', async () => {
  const desk = await new Desk().open()
  const { stock, own } = desk
  desk.beforeAnswer = () => {
    stock.replaceAll([{ petId: 4n, quantity: 20, status: 'available' }])
    own.forgetAnswered()
    stock.apply({ petId: 4n, quantity: 10, status: 'available' }, true)
  }
  await desk.editor.save(4n, 20, seen)
  expect(stock.find(4n)?.quantity).toBe(10)
})

test('an answer is shown at once where no event tells of the change', async () => {
  const desk = await new Desk().open()
  desk.stock.setConnection('lost')
  await desk.editor.save(5n, 20, seen)
  expect(desk.stock.find(5n)?.quantity).toBe(20)
})

test('what may have been added already is not added again', async () => {
  const desk = await new Desk().open()
  desk.beforeAnswer = breakOff
  await desk.bulk.run({ kind: 'add', amount: 5 }, [6n, 7n])
  expect(desk.bulk.get()).toMatchObject({
    changed: 0,
    leftOut: [
      { why: 'failed', isUncertain: true },
      { why: 'failed', isUncertain: true },
    ],
  })
  desk.beforeAnswer = () => {}
  await desk.bulk.retry()
  expect(desk.sent).toBe(2)
  expect(desk.bulk.get()?.leftOut).toHaveLength(2)
  expect(await Promise.all([6n, 7n].map(inStock))).toEqual([15, 15])
})

test('a change of many ends early where the key may not change anything', async () => {
  const { secret } = await service.createKey('enterprise', { readOnly: true })
  const desk = await new Desk(secret).open()
  const petIds = Array.from({ length: 50 }, (_, index) => BigInt(index + 11))
  await desk.bulk.run({ kind: 'set', amount: 1 }, petIds)
  expect(desk.sent).toBeLessThan(10)
  const { leftOut = [] } = desk.bulk.get() ?? {}
  expect(leftOut).toHaveLength(50)
  const stopped = leftOut.filter(({ why }) => why === 'stopped')
  expect(stopped).toHaveLength(50 - desk.sent)
  expect(stopped[0]?.reason).toBe('It was not changed: this key may not change anything.')
})

test('a change of several is undone as one, and stays to be undone where that fails', async () => {
  const desk = await new Desk().open()
  await desk.bulk.run({ kind: 'subtract', amount: 3 }, [8n, 9n])
  const { step } = desk.bulk.get() ?? {}
  expect(step?.changes).toHaveLength(2)
  desk.beforeAnswer = breakOff
  await undoLast(desk)
  expect(desk.bulk.get()).toMatchObject({ changed: 0, leftOut: [{ why: 'failed' }, { why: 'failed' }] })
  expect(desk.undo.get().at(-1)).toBe(step)
  desk.beforeAnswer = () => {}
  await undoLast(desk)
  expect(desk.bulk.get()).toMatchObject({ changed: 2, leftOut: [] })
  expect(desk.undo.get()).toEqual([])
  expect(await Promise.all([8n, 9n].map(inStock))).toEqual([10, 10])
})
