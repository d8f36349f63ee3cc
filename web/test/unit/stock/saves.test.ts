import { expect, test } from 'bun:test'
import { askForBarcode } from '../../../src/staff-page/data/stock/stock-search.ts'
import { breakOff, fillStock, useService } from '../../support/desk.ts'
import { petsNumbered } from '../../support/pets.ts'

const { service, inStock, openDesk: open } = useService({ pets: petsNumbered(60) })
const seen = 10
const openDesk = () => open().open(60)

test('a lost answer is asked for again with the key of the change, though others have changed the pet since', async () => {
  const desk = openDesk()
  desk.beforeAnswer = breakOff
  await desk.editor.save(51n, 5, seen)
  desk.beforeAnswer = () => {}
  await service().setQuantity(51n, '{"quantity": 7}')
  desk.stock.apply({ petId: 51n, quantity: 7, status: 'available' }, true)
  await desk.editor.retry(51n)
  expect(desk.editor.get().get(51n)?.kind).toBe('saved')
  expect(desk.sent.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
    Array(2).fill(expect.stringMatching(/./)),
  )
  expect(new Set(desk.sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  // The answer is as old as the change: the events have told what came after it.
  expect(desk.stock.find(51n)?.quantity).toBe(7)
  expect(await inStock(51n)).toBe(7)
})

test('what was typed while an answer got lost is saved once that is known', async () => {
  const desk = openDesk()
  let saving: Promise<unknown> | undefined
  desk.beforeAnswer = () => {
    saving = desk.editor.save(52n, 6, seen)
    breakOff()
  }
  await desk.editor.save(52n, 5, seen)
  await saving
  expect(desk.editor.get().get(52n)).toMatchObject({ kind: 'failed', typed: 6 })
  desk.beforeAnswer = () => {}
  await desk.editor.retry(52n)
  expect(desk.editor.get().get(52n)?.kind).toBe('saved')
  expect(desk.sent.map(({ body }) => JSON.parse(body).changes)).toEqual([
    [{ petId: 52, quantity: 5, expected: 10 }],
    [{ petId: 52, quantity: 5, expected: 10 }],
    [{ petId: 52, quantity: 6, expected: 5 }],
  ])
  expect(desk.undo.get()).toMatchObject([
    { changes: [{ petId: 52n, before: 10, after: 5 }] },
    { changes: [{ petId: 52n, before: 5, after: 6 }] },
  ])
  await desk.undo.undoLast(desk.saving)
  expect(await inStock(52n)).toBe(5)
})

test('an undo leaves what others have sold since', async () => {
  await service().setQuantity(56n, '{"quantity": 10}')
  const desk = openDesk()
  await desk.editor.save(56n, 20, seen)
  await desk.saving.client.inventory.sell({ petId: 56n, quantity: 3 })
  expect(await desk.undo.undoLast(desk.saving)).toMatchObject({ outcome: { type: 'done' } })
  expect(await inStock(56n)).toBe(7)
})

test('a conflict shows the latest quantity, and ends when the pet has the wanted one or is gone', async () => {
  const desk = openDesk()
  await service().setQuantity(20n, '{"quantity":4}')
  expect(await desk.editor.save(20n, 7, seen)).toMatchObject({ kind: 'conflict', theirs: 4 })
  const edit = () => desk.editor.get().get(20n)
  const becomes = (quantity: number) => {
    desk.stock.apply({ petId: 20n, quantity, status: 'available' }, true)
    desk.stock.publishNow()
  }
  becomes(4)
  expect(edit()).toMatchObject({ kind: 'conflict', target: 7, theirs: 4 })
  becomes(5)
  expect(edit()).toMatchObject({ kind: 'conflict', target: 7, theirs: 5 })
  becomes(7)
  expect(edit()).toBeUndefined()

  await service().setQuantity(21n, '{"quantity":4}')
  await desk.editor.save(21n, 7, seen)
  desk.stock.remove(21n)
  desk.stock.publishNow()
  expect(desk.editor.get().get(21n)).toBeUndefined()
})

test('a row never says that it was saved while it shows what stood before', async () => {
  const desk = openDesk()
  const shown: (number | undefined)[] = []
  desk.editor.subscribe(() => {
    if (desk.editor.get().get(50n)?.kind !== 'saved') return
    shown.push(desk.stock.get().rows.find(({ petId }) => petId === 50n)?.quantity)
  })
  // The second comes so soon that the list waits a moment before it shows it.
  await desk.editor.save(50n, 20, seen)
  await desk.editor.save(50n, 21, 20)
  expect(shown).toEqual([20, 21])
})

test('an answer does not overwrite what came after it, though a new list came between', async () => {
  const desk = openDesk()
  const { stock, own } = desk
  desk.beforeAnswer = () => {
    fillStock(stock, [{ petId: 4n, quantity: 20, status: 'available' }])
    own.forgetAnswered()
    stock.apply({ petId: 4n, quantity: 10, status: 'available' }, true)
  }
  await desk.editor.save(4n, 20, seen)
  expect(stock.find(4n)?.quantity).toBe(10)
})

test('an answer is shown at once where no event tells of the change', async () => {
  const desk = openDesk()
  desk.stock.setConnection('lost')
  await desk.editor.save(5n, 20, seen)
  expect(desk.stock.find(5n)?.quantity).toBe(20)
})

test('a difference is right whatever others do, and is undone as what it was', async () => {
  const desk = openDesk()
  await service().setQuantity(53n, '{"quantity": 100}')
  expect(await desk.editor.adjust(53n, 12)).toMatchObject({ kind: 'saved' })
  expect(await inStock(53n)).toBe(112)
  expect(desk.undo.get()).toMatchObject([{ changes: [{ petId: 53n, before: 100, after: 112 }] }])
  await desk.undo.undoLast(desk.saving)
  expect(await inStock(53n)).toBe(100)
})

test('a difference that is refused can be tried anew; one whose answer was lost is made once', async () => {
  const desk = openDesk()
  expect(await desk.editor.adjust(54n, -12)).toMatchObject({
    kind: 'failed',
    reason: 'There were not enough to take 12.',
    batch: { changes: [{ petId: 54n, delta: -12 }] },
  })
  await service().setQuantity(54n, '{"quantity": 20}')
  await desk.editor.retry(54n)
  expect(desk.editor.get().get(54n)?.kind).toBe('saved')
  expect(await inStock(54n)).toBe(8)

  desk.beforeAnswer = breakOff
  expect((await desk.editor.adjust(54n, 5))?.kind).toBe('failed')
  desk.beforeAnswer = () => {}
  await desk.editor.retry(54n)
  expect(desk.editor.get().get(54n)?.kind).toBe('saved')
  const keys = desk.sent.map(({ idempotencyKey }) => idempotencyKey)
  expect(new Set(keys.slice(-2)).size).toBe(1)
  expect(new Set(keys).size).toBe(3)
  expect(await inStock(54n)).toBe(13)
})

test('a difference goes behind what is being saved, and what is typed meanwhile behind it', async () => {
  const desk = openDesk()
  const saving = desk.editor.save(55n, 20, seen)
  const adding = desk.editor.adjust(55n, 3)
  await saving
  while (desk.sent.length < 2) await Bun.sleep(1)
  // The difference is on its way.
  const setting = desk.editor.save(55n, 50, 23)
  await Promise.all([adding, setting])
  expect(desk.sent.map(({ body }) => JSON.parse(body).changes)).toEqual([
    [{ petId: 55, quantity: 20, expected: 10 }],
    [{ petId: 55, delta: 3 }],
    [{ petId: 55, quantity: 50, expected: 23 }],
  ])
  expect(await inStock(55n)).toBe(50)
})

test('a barcode that the page does not know costs one request, and no second one', async () => {
  const desk = openDesk()
  const made = await service().call('POST', '/pets', {
    body: JSON.stringify({ name: 'With a code', categoryId: 1, barcode: '4006381333931' }),
    headers: { 'Content-Type': 'application/json' },
  })
  const petId = BigInt((made.json as { id: number }).id)
  expect(desk.stock.barcodes.find('4006381333931')).toBeUndefined()
  expect(await askForBarcode(desk.saving, '4006381333931')).toBe(petId)
  expect(desk.stock.barcodes.find('4006381333931')).toBe(petId)
  expect(await askForBarcode(desk.saving, '9999999999994')).toBeUndefined()
})
