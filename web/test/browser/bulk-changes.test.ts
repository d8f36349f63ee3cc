import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { BROWSER_TEST_MS, useShop } from '../support/shop.ts'
import { goToRow, saved, shows, typeQuantity } from '../support/stock-table.ts'

const MANY = 2_100
const PETS = Array.from({ length: MANY }, (_, index) => ({
  id: index === 0 ? 9007199254740993n : BigInt(index),
  name: `Pet number ${index}`,
  categoryId: 1n,
  status: 'available' as const,
  quantity: 10,
}))

const shop = useShop({ pets: PETS })

/** A page that has loaded all pets. Until then, only some of them are shown and can be selected. */
async function signedIn(options: Parameters<typeof shop.signedIn>[0] = {}): Promise<Page> {
  const page = await shop.signedIn(options)
  await page.getByText(/^2,(?:100|099) pets$/).waitFor()
  return page
}

const ADJUSTMENTS = '**/v1/inventory/adjustments'

interface SentChange {
  readonly path: string
  readonly key: string | undefined
  readonly body: string
}

/** Every change that the page sends from now on. */
function changesOf(page: Page): readonly SentChange[] {
  const sent: SentChange[] = []
  page.on('request', (request) => {
    if (request.method() === 'GET') return
    const { pathname } = new URL(request.url())
    sent.push({ path: pathname, key: request.headers()['idempotency-key'], body: request.postData() ?? '' })
  })
  return sent
}

const sizesOf = (sent: readonly SentChange[]) => sent.map(({ body }) => JSON.parse(body).changes.length)

async function select(page: Page, petIds: readonly bigint[]): Promise<void> {
  for (const petId of petIds) {
    await goToRow(page, petId)
    await page.keyboard.press('Space')
  }
}

async function apply(page: Page, kind: string, amount: number): Promise<void> {
  await page.getByRole('button', { name: kind, exact: true }).click()
  await page.getByLabel('Amount').fill(String(amount))
  await page.getByRole('button', { name: /^Apply to/ }).click()
}

/** Says yes to the question that comes before many rows are changed. */
async function confirm(page: Page, count: string): Promise<void> {
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Change ${count}`, exact: true })
    .click()
}

/** Waits until what is shown says that all is over. */
async function done(page: Page, words: string): Promise<void> {
  await page.locator('.bulk-bar').getByRole('status').getByText(words, { exact: true }).waitFor()
}

test(
  'over 2,000 pets are changed by one request for each 1,000, and back, and the history has the reason',
  async () => {
    const page = await signedIn()
    await shows(page, 1n, 10)
    const sent = changesOf(page)
    await page.getByLabel('Select all rows shown').check()
    await page.getByLabel('Reason').selectOption('Counted')
    await page.getByLabel('Reference').fill(' shelf 7\t')
    await apply(page, 'Set to', 42)
    const question = page.getByRole('dialog', { name: 'Set 2,100 pets to 42?' })
    await question.getByText('You can stop it on the way, and undo it.').waitFor()
    await axe(page)
    // Esc is a no.
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Apply to 2,100' }).click()
    await confirm(page, '2,100')
    await done(page, '2,100 changed')
    expect(sizesOf(sent)).toEqual([1_000, 1_000, 100])
    expect(new Set(sent.map(({ path }) => path))).toEqual(new Set(['/v1/inventory/adjustments']))
    await shows(page, 1n, 42)
    expect(await Promise.all([1n, 2_099n, 9007199254740993n].map(shop.inStock))).toEqual([42, 42, 42])

    await page.locator('.bulk-bar').getByRole('button', { name: 'Undo' }).click()
    await done(page, '2,100 changed back')
    expect(sizesOf(sent.slice(3))).toEqual([1_000, 1_000, 100])
    const keys = sent.map(({ key }) => key)
    expect(keys).toEqual(Array(6).fill(expect.stringMatching(/^[\x21-\x7e]{8,255}$/)))
    expect(new Set(keys).size).toBe(6)
    expect(await Promise.all([1n, 2_099n, 9007199254740993n].map(shop.inStock))).toEqual([10, 10, 10])

    await page.goto(`${shop.service.address}/#/pets/9007199254740993`)
    const why = page.locator('.history-table__why')
    await why.nth(1).waitFor()
    expect(await why.allTextContents()).toEqual(['Corrected · undo of shelf 7', 'Counted · shelf 7'])
    await page.goto(`${shop.service.address}/#/activity`)
    await page.getByText('Corrected · undo of shelf 7', { exact: true }).first().waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'rows that cannot be changed are listed, all others are changed, and every row is counted',
  async () => {
    const page = await signedIn({ provokes: [404, 412] })
    await shows(page, 1n, 10)
    const sent = changesOf(page)
    let isFirst = true
    await page.route(ADJUSTMENTS, async (route) => {
      if (isFirst) {
        isFirst = false
        await shop.setElsewhere(2n, 77)
        await shop.setElsewhere(4n, 5)
        await shop.service.store.changeStock([{ type: 'remove_pet', petId: 3n, keyId: 'petstore', at: 0 }])
        await shows(page, 4n, 5)
      }
      await route.continue()
    })
    await page.getByLabel('Select all rows shown').check()
    await apply(page, 'Set to', 5)
    await confirm(page, '2,100')
    await done(
      page,
      '2,097 changed · 1 had that quantity already · 1 left alone, since somebody else changed them · 1 not in the store any more',
    )
    await page.getByText('Pet number 2 Somebody else set it to 77 meanwhile; it was left at that.').waitFor()
    await page.getByText('Pet 3 This pet is not in the store any more.').waitFor()
    await axe(page)
    expect(sizesOf(sent)).toEqual([1_000, 997, 1_000, 100])
    expect(new Set(sent.map(({ key }) => key)).size).toBe(4)
    expect(await Promise.all([1n, 2n, 4n, 2_099n].map(shop.inStock))).toEqual([5, 77, 5, 5])

    await page.getByRole('button', { name: 'Try those again' }).click()
    await done(page, '1 changed · 1 not in the store any more')
    expect(await shop.inStock(2n)).toBe(5)
  },
  BROWSER_TEST_MS,
)

test(
  'what there is not enough of is refused by name, and the rest is undone as one',
  async () => {
    await shop.setElsewhere(8n, 2)
    const page = await signedIn({ provokes: [409] })
    await shows(page, 8n, 2)
    const before = await shop.inStock(6n)
    await select(page, [6n, 7n, 8n])
    await page.getByRole('button', { name: 'Subtract' }).click()
    await page.getByRole('button', { name: 'Apply to 3' }).click()
    await page.getByText('Enter a whole number of 0 or more.').waitFor()
    expect(await page.getByLabel('Reason').locator('option').allTextContents()).toEqual([
      ...['Corrected', 'Sold', 'Damaged', 'Lost'],
    ])
    await page.getByLabel('Amount').fill('4')
    await page.keyboard.press('Enter')
    await done(page, '2 changed · 1 refused')
    await page.getByText('Pet number 8 There were not enough to take 4.').waitFor()
    await axe(page)
    expect(await Promise.all([6n, 7n, 8n].map(shop.inStock))).toEqual([before - 4, before - 4, 2])

    await page.locator('.bulk-bar').getByRole('button', { name: 'Undo' }).click()
    await done(page, '2 changed back')
    expect(await Promise.all([6n, 7n, 8n].map(shop.inStock))).toEqual([before, before, 2])
    await page.getByRole('button', { name: 'Done' }).click()
    await page.locator('.bulk-bar').waitFor({ state: 'detached' })
  },
  BROWSER_TEST_MS,
)

test(
  'a change of several pets is reversed as a whole in Activity, by one adjustment that refers to it',
  async () => {
    const page = await signedIn()
    const petIds = [13n, 14n, 15n]
    const before = await Promise.all(petIds.map(shop.inStock))
    await select(page, petIds)
    await page.getByLabel('Reference').fill('shelf 9')
    await apply(page, 'Add', 4)
    await done(page, '3 changed')
    expect(await Promise.all(petIds.map(shop.inStock))).toEqual(before.map((quantity) => quantity + 4))
    await page.goto(`${shop.service.address}/#/activity`)
    const sent = changesOf(page)
    await page.getByRole('button', { name: 'Reverse Corrected · shelf 9' }).click()
    await page.getByRole('dialog').getByText('3 pets, 12 pieces').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Reverse' }).click()
    await page.getByText('Reversed. Stock updated for 3 pets.').waitFor()
    expect(sizesOf(sent)).toEqual([3])
    expect(await Promise.all(petIds.map(shop.inStock))).toEqual(before)
    await page.getByText('Corrected · reverses shelf 9').waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'a change whose answer is lost is repeated with its key, and made once',
  async () => {
    const page = await signedIn({ provokes: ['no connection'] })
    await shows(page, 11n, await shop.inStock(11n))
    const before = await Promise.all([10n, 11n].map(shop.inStock))
    const sent = changesOf(page)
    const lost = new Set<string>()
    await page.route('**/v1/inventory/*', async (route) => {
      const path = new URL(route.request().url()).pathname
      if (route.request().method() === 'GET' || lost.has(path)) return route.continue()
      lost.add(path)
      // It arrives and is made; what the service says to it does not arrive.
      await route.fetch()
      return route.abort()
    })
    await select(page, [10n, 11n])
    await apply(page, 'Add', 5)
    await done(page, '2 changed')
    expect(sent).toHaveLength(2)
    expect(sent[1]).toEqual(sent[0] as SentChange)
    expect(await Promise.all([10n, 11n].map(shop.inStock))).toEqual(before.map((quantity) => quantity + 5))
    await page.getByRole('button', { name: 'Done' }).click()

    await typeQuantity(page, 12n, 77)
    await saved(page, 12n)
    expect(sent).toHaveLength(4)
    expect(sent[3]).toEqual(sent[2] as SentChange)
    expect(sent[3]?.key).toMatch(/^[\x21-\x7e]{8,255}$/)
    expect(sent[3]?.key).not.toBe(sent[0]?.key)
    expect(await shop.inStock(12n)).toBe(77)
  },
  BROWSER_TEST_MS,
)

test(
  'a change of many rows can be stopped, and counts each of them once',
  async () => {
    const page = await signedIn()
    await shows(page, 1n, await shop.inStock(1n))
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(ADJUSTMENTS, async (route) => {
      await held
      await route.continue()
    })
    await page.getByLabel('Select all rows shown').check()
    await apply(page, 'Set to', 99)
    await confirm(page, '2,099')
    await page.getByRole('progressbar').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    release()
    const summary = page.getByText(/^[\d,]+ changed · [\d,]+ stopped$/)
    await summary.waitFor()
    const words = ((await summary.textContent()) ?? '').replaceAll(',', '')
    const [changed = 0, stopped = 0] = words.match(/\d+/g)?.map(Number) ?? []
    const { items } = await shop.service.call('GET', '/inventory')
    // The one on its way was made; where its answer took too long it is among the stopped.
    const made = items.filter(({ quantity }) => quantity === 99).length
    expect(made).toBeGreaterThanOrEqual(changed)
    expect(made).toBeLessThanOrEqual(1_000)
    expect(changed + stopped).toBe(items.length)
  },
  BROWSER_TEST_MS,
)
