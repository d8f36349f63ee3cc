import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { petsNumbered } from '../support/pets.ts'
import { type PageOptions, useShop } from '../support/shop.ts'
import { goToRow, shows } from '../support/stock-table.ts'

const ODD = 9007199254740993n
/** More than one request changes. */
const MANY = 1_100
const shop = useShop({ pets: petsNumbered(MANY, (index) => (index === MANY - 1 ? { id: ODD } : {})) })

const ADJUSTMENTS = '**/v1/inventory/adjustments'

/** A page that has loaded all pets. Until then, only some of them are shown and can be selected. */
async function signedIn(options: PageOptions = {}): Promise<Page> {
  const page = await shop.signedIn(options)
  await page.getByText(/^1,(?:100|099) pets$/).waitFor()
  return page
}

async function selectAll(page: Page): Promise<void> {
  await page.getByLabel('Select all rows of this page').check()
  await page.getByRole('button', { name: /^Select all/ }).click()
}

async function apply(page: Page, kind: string, amount: number): Promise<void> {
  await page.getByRole('button', { name: kind, exact: true }).click()
  await page.getByLabel('Amount').fill(String(amount))
  await page.getByRole('button', { name: /^Apply to/ }).click()
}

/** Waits until what is shown says that all is over. */
async function done(page: Page, words: string): Promise<void> {
  await page.locator('.bulk-bar').getByRole('status').getByText(words, { exact: true }).waitFor()
}

test('all rows are changed after a question, and back, and the history has the reason', async () => {
  const page = await signedIn()
  await shows(page, 1n, 10)
  const sizes: (number | undefined)[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sizes.push(request.postDataJSON().changes?.length)
  })
  await selectAll(page)
  await apply(page, 'Add', 32)
  await page.getByRole('dialog').getByRole('button', { name: 'Do not change them' }).click()
  await page.getByLabel('Reason').selectOption('Received')
  await page.getByLabel('Reference').fill(' shelf 7\t')
  await page.getByRole('button', { name: 'Apply to 1,100' }).click()
  const question = page.getByRole('dialog', { name: 'Add 32 to 1,100 pets?' })
  await question.getByText('You can undo it.').waitFor()
  await axe(page)
  // Esc is a no.
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  expect(sizes).toEqual([])
  await page.getByRole('button', { name: 'Apply to 1,100' }).click()
  await question.getByRole('button', { name: 'Change 1,100', exact: true }).click()
  await done(page, '1,100 changed')
  await shows(page, 1n, 42)
  expect(await Promise.all([1n, ODD].map(shop.inStock))).toEqual([42, 42])
  await page.locator('.bulk-bar').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone. Stock updated for 1,100 pets.').waitFor()
  expect(sizes).toEqual([1_000, 100, undefined, undefined])
  expect(await Promise.all([1n, ODD].map(shop.inStock))).toEqual([10, 10])

  await page.goto(`${shop.service.address}/#/pets/${ODD}`)
  const why = page.locator('.history-table__why')
  await why.nth(1).waitFor()
  expect(await why.allTextContents()).toEqual(['Undone · shelf 7', 'Received · shelf 7'])
})

test('rows that cannot be changed are listed with the reason', async () => {
  const page = await signedIn({})
  await shows(page, 2n, 10)
  for (const petId of [2n, 3n, 4n]) {
    await goToRow(page, petId)
    await page.keyboard.press('Space')
  }
  await page.getByRole('button', { name: 'Subtract' }).click()
  expect(await page.getByLabel('Reason').locator('option').allTextContents()).toEqual([
    ...['Corrected', 'Sold', 'Damaged', 'Lost'],
  ])
  await apply(page, 'Set to', 4_006_381_333_931)
  const question = page.getByRole('dialog', { name: 'Set 3 pets to 4,006,381,333,931?' })
  await question.getByRole('button', { name: 'Do not change them' }).click()
  await question.waitFor({ state: 'detached' })
  let isFirst = true
  await page.route(ADJUSTMENTS, async (route) => {
    if (isFirst) {
      isFirst = false
      await shop.setElsewhere(2n, 77)
      await shop.send('DELETE', '/pets/3')
      await shows(page, 2n, 77)
    }
    await route.continue()
  })
  await apply(page, 'Set to', 5)
  await done(page, '1 changed · 2 not changed')
  await page.getByText('Pet number 2 Somebody else changed it meanwhile; it was left at that.').waitFor()
  await page.getByText('Pet 3 This pet is not in the store any more.').waitFor()
  await axe(page)
  expect(await Promise.all([2n, 4n].map(shop.inStock))).toEqual([77, 5])
  await page.getByRole('button', { name: 'Done' }).click()
  await page.locator('.bulk-bar').waitFor({ state: 'detached' })
})
