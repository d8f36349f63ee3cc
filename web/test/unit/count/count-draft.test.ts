import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { CountDraft } from '../../../src/staff-page/count/count-draft.ts'
import { ALL_PETS, inOrder, isIn, isShown, scopeWords, tallyOf } from '../../../src/staff-page/count/scope.ts'
import { hideAllToasts } from '../../../src/staff-page/data/toasts.ts'
import { isSent } from '../../../src/staff-page/data/work/work-document.ts'
import { breakOff, type Desk, idsFrom, useService } from '../../support/desk.ts'
import { Device } from '../../support/device.ts'
import { petsNumbered } from '../../support/pets.ts'

const PETS = 2_200
/** Those that the tests of single pets use. */
const FEW = idsFrom(1, 9)

const { service, inStock, openDesk } = useService({ pets: petsNumbered(PETS) })

beforeEach(async () => {
  for (const petId of FEW) await service().setQuantity(petId, '{"quantity":10}')
})

const bodies = ({ sent }: Desk) => sent.map(({ body }) => JSON.parse(body))
const keys = ({ sent }: Desk) => sent.map(({ idempotencyKey }) => idempotencyKey)

const devices: Device[] = []

afterEach(() => {
  for (const device of devices.splice(0)) device.closeTabs()
})
afterAll(hideAllToasts)

async function open(device = new Device()) {
  devices.push(device)
  const page = openDesk().open(PETS)
  const place = await device.openTab(page)
  let reloads = 0
  const count = new CountDraft(place, () => reloads++)
  return {
    page,
    device,
    count,
    outbox: place.outbox,
    sent: () => [...place.outbox.get().values()].filter(isSent),
    quantityOf: (petId: bigint) => count.get().lines.get(petId),
    appliedSizes: () => count.applied.get().map(({ changes }) => changes.length),
    reloads: () => reloads,
  }
}

test('what was counted is applied by one request, over what the page showed when each was counted', async () => {
  const { page, outbox, count, quantityOf } = await open()
  count.begin(ALL_PETS)
  count.setReference('Stocktake')
  for (let scan = 1; scan <= 3; scan++) expect(count.addOne(1n)).toBe(scan)
  count.set(2n, 10)
  count.set(3n, 99)
  count.remove(3n)
  await count.apply()
  expect(bodies(page)).toEqual([
    {
      reason: 'counted',
      reference: 'Stocktake',
      occurredAt: expect.stringMatching(/Z$/),
      changes: [
        { petId: 1, quantity: 3, expected: 10 },
        { petId: 2, quantity: 10, expected: 10 },
      ],
    },
  ])
  expect([await inStock(1n), await inStock(2n), await inStock(3n)]).toEqual([3, 10, 10])
  expect(count.applied.get()).toMatchObject([{ changes: [{ before: 10, after: 3 }, { after: 10 }] }])
  expect(quantityOf(1n)).toEqual({ quantity: 3, expected: 3, isApplied: true })
  // Once applied, another scan of it begins anew.
  expect(count.addOne(1n)).toBe(1)
  await count.apply()
  expect(await inStock(1n)).toBe(1)
  count.clear()
  await outbox.reload()
  expect([count.get().head, outbox.get().size]).toEqual([undefined, 0])
})

test('an adjustment that was undone can be applied again', async () => {
  const { count, quantityOf } = await open()
  count.begin(ALL_PETS, true)
  count.set(6n, 4)
  await count.apply()
  const [batch] = count.applied.get()
  if (batch === undefined) throw new Error('nothing was applied')
  count.reopen(batch)
  expect(quantityOf(6n)).toEqual({ quantity: 4, expected: 10, isApplied: false })
  expect([count.applied.get(), count.get().head?.isBlind]).toEqual([[], true])
})

test('what was sold meanwhile is shown and not overwritten, and all others are applied', async () => {
  const { page, count, quantityOf, reloads } = await open()
  count.begin(ALL_PETS)
  for (const petId of [1n, 2n, 3n, 4n]) count.set(petId, 8)
  // Three are sold, which the page has not heard of.
  for (const petId of [1n, 2n, 3n]) await service().setQuantity(petId, '{"quantity":9}')
  page.stock.setConnection('lost')
  await count.apply()
  expect(bodies(page).map(({ changes }) => changes.length)).toEqual([4, 1])
  expect(await Promise.all(FEW.slice(0, 4).map(inStock))).toEqual([9, 9, 9, 8])
  expect(count.get().refusal?.pets.map(({ petId }) => petId)).toEqual([1n, 2n, 3n])
  expect(reloads()).toBe(1)
  // Nothing is sent again before somebody has decided.
  await count.apply()
  expect(page.sent).toHaveLength(2)
  for (const petId of [1n, 2n, 3n]) page.stock.apply({ petId, quantity: 9, status: 'available' }, true)
  count.resolve([1n], 'keep the change')
  count.resolve([2n], 'as counted')
  count.resolve([3n], 'count again')
  expect(quantityOf(1n)).toEqual({ quantity: 7, expected: 9, isApplied: false })
  expect(quantityOf(2n)).toEqual({ quantity: 8, expected: 9, isApplied: false })
  expect(quantityOf(3n)).toBeUndefined()
  await count.apply()
  expect(await Promise.all(FEW.slice(0, 4).map(inStock))).toEqual([7, 8, 9, 8])
})

test('what the page sees change after it was counted is not even sent', async () => {
  const { page, count } = await open()
  count.begin(ALL_PETS)
  count.addOne(5n)
  page.stock.apply({ petId: 5n, quantity: 9, status: 'available' }, true)
  // It began to be counted when the page showed 10.
  count.addOne(5n)
  expect(count.get().lines.get(5n)).toEqual({ quantity: 2, expected: 10, isApplied: false })
  await count.apply()
  expect(page.sent).toEqual([])
  page.stock.apply({ petId: 5n, quantity: 1, status: 'available' }, true)
  // Two were counted, nine have gone: less than nothing is no count.
  count.resolve([5n], 'keep the change')
  expect(count.get().lines.get(5n)).toMatchObject({ quantity: 2, expected: 10 })
})

test('more than 1,000 pets are several adjustments, of which the next tab sends one whose response was lost', async () => {
  const first = await open()
  first.count.begin(ALL_PETS)
  for (const petId of idsFrom(10, PETS)) first.count.set(petId, 11)
  let answers = 0
  first.page.beforeAnswer = () => {
    if (++answers === 2) breakOff()
  }
  await first.count.apply()
  expect([first.appliedSizes(), first.sent().length]).toEqual([[1_000], 1])
  first.device.closeTabs()
  const second = await open(first.device)
  while (second.sent().length > 0) await Bun.sleep(5)
  await second.count.apply()
  expect(second.appliedSizes()).toEqual([191])
  // The one without an answer went out again under its own key, and was not made twice.
  expect(keys(second.page)[0]).toBe(keys(first.page)[1] ?? null)
  expect(new Set([...keys(first.page), ...keys(second.page)]).size).toBe(3)
  const { json } = await service().call('GET', '/inventory/1500/history')
  expect(json).toMatchObject([{ before: 10, after: 11, reason: 'counted' }, { before: 0 }])
  expect(await inStock(2_200n)).toBe(11)
})

test('a count is kept at every step', async () => {
  const { device, outbox, count } = await open()
  const scope = { category: { id: 9223372036854775807n, name: 'Dogs' }, query: 'old' }
  count.begin(scope)
  count.setReference('May')
  count.set(7n, 3)
  count.addOne(71n)
  await outbox.reload()
  const { head, lines } = (await open(device)).count.get()
  expect(head).toEqual({ scope, isBlind: false, reference: 'May' })
  expect([...lines]).toEqual([
    [7n, { quantity: 3, expected: 10, isApplied: false }],
    [71n, { quantity: 1, expected: 10, isApplied: false }],
  ])
})

test('which pets it is about, in which order, and how far it is', async () => {
  const { page, count } = await open()
  const state = { quantity: 10, status: 'available' as const }
  page.stock.take([
    { petId: 1n, name: 'Zoë', categoryId: 2n, ...state },
    { petId: 2n, name: 'Pet 10', categoryId: 2n, ...state },
    { petId: 3n, name: 'Pet 9', categoryId: 1n, ...state },
  ])
  const rows = page.stock.get().rows.slice(0, 3)
  const among = (scope: Parameters<typeof isIn>[0]) =>
    inOrder(rows.filter(isIn(scope))).map(({ name }) => name)
  expect(among(ALL_PETS)).toEqual(['Pet 9', 'Pet 10', 'Zoë'])
  expect(among({ category: { id: 2n, name: 'Cats' }, query: '' })).toEqual(['Pet 10', 'Zoë'])
  expect(among({ category: undefined, query: 'zoe' })).toEqual(['Zoë'])
  expect(scopeWords({ category: undefined, query: 'zoe' })).toBe('pets “zoe”')
  count.begin(ALL_PETS)
  count.set(1n, 10)
  count.set(2n, 4)
  const { lines: entries } = count.get()
  expect(tallyOf(rows, entries)).toEqual({ all: 3, uncounted: 1, counted: 2, differences: 1 })
  const shown = (filter: Parameters<typeof isShown>[0]) =>
    rows.filter(({ petId }) => isShown(filter, entries.get(petId))).map(({ petId }) => petId)
  expect([shown('uncounted'), shown('counted'), shown('differences')]).toEqual([[3n], [1n, 2n], [2n]])
})

test('a count that was sent late leaves a later one, and is not sent again', async () => {
  const { page, count, device, sent } = await open()
  count.begin(ALL_PETS)
  count.set(8n, 3)
  page.beforeSending = breakOff
  await count.apply()
  expect(sent()).toHaveLength(1)
  device.closeTabs()
  // Somebody else counts as many as the page has seen.
  await service().setQuantity(8n, '{"quantity":10}')
  const next = await open(device)
  while (next.sent().length > 0) await Bun.sleep(5)
  expect(await inStock(8n)).toBe(10)
  await next.count.apply()
  expect(next.page.sent).toHaveLength(1)
})

test('a count that another tab has sent, and that was refused, is part of the count again', async () => {
  const { page, count, device } = await open()
  count.begin(ALL_PETS)
  for (const petId of [1n, 2n]) count.set(petId, 4)
  page.beforeSending = breakOff
  await count.apply()
  device.closeTabs()
  await service().call('POST', '/inventory/adjustments', {
    headers: { 'Content-Type': 'application/json' },
    body: '{"reason":"sold","changes":[{"petId":1,"delta":-1}]}',
  })
  const next = await open(device)
  while (next.count.get().refusal === undefined) await Bun.sleep(5)
  expect([next.sent(), next.count.get().refusal?.pets]).toMatchObject([[], [{ petId: 1n }]])
  await next.count.apply()
  expect([await inStock(1n), await inStock(2n)]).toEqual([9, 4])
  expect([next.quantityOf(1n)?.isApplied, next.quantityOf(2n)?.isApplied]).toEqual([false, true])
})
