import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { petsNumbered } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, fieldOf, goToRow, rowOf, saved, shows, typeQuantity } from '../support/stock-table.ts'

const shop = useShop({ pets: petsNumbered(10) })

/** Holds back every change that the page sends, until the function that it gives is called. */
async function holdChanges(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/v1/inventory/adjustments', async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

test('leaving the field saves and lets the focus go; another window does not end the typing', async () => {
  const page = await shop.signedIn()
  await shows(page, 2n, 10)
  await goToRow(page, 2n)
  await page.keyboard.type('1')
  // As the browser tells it when another window gets the focus: the field stays the active element.
  await fieldOf(page, 2n).evaluate((input) => {
    input.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))
  })
  await page.keyboard.type('2')
  expect(await fieldOf(page, 2n).inputValue()).toBe('12')
  const search = page.getByLabel('Search by name or id')
  await search.click()
  await saved(page, 2n)
  await expectSoon(() => search.evaluate((input) => input === document.activeElement), true)
  expect(await shop.inStock(2n)).toBe(12)
})

test('nothing is undone while a change is being saved', async () => {
  await shop.setElsewhere(5n, 10)
  const page = await shop.signedIn()
  await shows(page, 5n, 10)
  const release = await holdChanges(page)
  await typeQuantity(page, 5n, 50)
  await rowOf(page, 5n).getByText('Saving').waitFor()
  await page.keyboard.press('Control+z')
  await page.getByText('A change is still being saved.').waitFor()
  release()
  await saved(page, 5n)
  expect(await shop.inStock(5n)).toBe(50)
  await page.keyboard.press('Control+z')
  await page.getByText('Undone. Pet number 5 is back at 10.').waitFor()
  expect(await shop.inStock(5n)).toBe(10)
})

test('a selection says how many of it are not shown, and can leave them out', async () => {
  const page = await shop.signedIn()
  await shows(page, 6n, 10)
  for (const petId of [6n, 7n]) {
    await goToRow(page, petId)
    await page.keyboard.press('Space')
  }
  await page.getByText('2 selected', { exact: true }).waitFor()
  await page.getByLabel('Search by name or id').fill('number 6')
  await page.getByText('2 selected, 1 of them not shown').waitFor()
  expect(await page.getByRole('button', { name: /^Select all/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Leave those out' }).click()
  await page.getByText('1 selected', { exact: true }).waitFor()
  await page.getByLabel('Amount').fill('8')
  await page.keyboard.press('Enter')
  await page.getByText('1 changed', { exact: true }).waitFor()
  expect(await Promise.all([6n, 7n].map(shop.inStock))).toEqual([8, 10])
})

test('a conflict is told of on every view, and Esc leaves what the other one set', async () => {
  const page = await shop.signedIn({ provokes: [412] })
  await shows(page, 8n, 10)
  const release = await holdChanges(page)
  await typeQuantity(page, 8n, 5)
  await rowOf(page, 8n).getByText('Saving').waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await shop.setElsewhere(8n, 7)
  release()
  await page.getByText('Pet number 8 was not saved. Somebody else set it to 7').waitFor()
  await page.locator('.toast').getByRole('button', { name: 'Show' }).click()
  await page.getByRole('heading', { level: 1, name: 'Pet number 8' }).waitFor()
  await page.getByRole('button', { name: 'Set 5 for Pet number 8' }).waitFor()
  await page.goBack()
  await page.goBack()
  await rowOf(page, 8n).getByText('Somebody set 7').waitFor()
  await goToRow(page, 8n)
  await page.keyboard.press('Escape')
  await rowOf(page, 8n).getByText('Somebody set 7').waitFor({ state: 'detached' })
  await page.locator('.toast--negative').waitFor({ state: 'detached' })
  expect(await shop.inStock(8n)).toBe(7)
})

test('Ctrl+Z does nothing while a dialog is open', async () => {
  const page = await shop.signedIn()
  const before = await shop.inStock(9n)
  await shop.setElsewhere(9n, before)
  await shows(page, 9n, before)
  await typeQuantity(page, 9n, before + 2)
  await page.getByText(`Pet number 9: ${before} → ${before + 2}`).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  const methods: string[] = []
  page.on('request', (request) => methods.push(request.method()))
  await page.keyboard.press('Control+z')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(methods.filter((method) => method !== 'GET')).toEqual([])
  expect(await shop.inStock(9n)).toBe(before + 2)
  await page.keyboard.press('Control+z')
  await page.getByText(`Undone. Pet number 9 is back at ${before}.`).waitFor()
})

test('rapid steps are one change, with the reason that was chosen, and screen readers hear the new quantity', async () => {
  const page = await shop.signedIn()
  const before = await shop.inStock(10n)
  await shows(page, 10n, before)
  const sent = page.waitForRequest('**/v1/inventory/adjustments')
  const more = page.getByRole('button', { name: 'One more Pet number 10' })
  // In the page, because the steps are sent soon after the last one, unless the reason has the focus.
  await more.evaluate(async (button: HTMLElement) => {
    for (let step = 0; step < 3; step++) button.click()
    const findReason = () => document.querySelector<HTMLElement>('[aria-label="Reason for Pet number 10"]')
    while (findReason() === null) await new Promise(requestAnimationFrame)
    findReason()?.focus()
  })
  await page
    .getByRole('status')
    .getByText(`Pet number 10: ${before + 3}`, { exact: true })
    .waitFor()
  await page.getByLabel('Reason for Pet number 10').selectOption('Returned')
  await page.keyboard.press('Enter')
  expect((await sent).postDataJSON()).toEqual({ reason: 'returned', changes: [{ petId: 10, delta: 3 }] })
  await saved(page, 10n)
  await expectSoon(() => activeRow(page), 'pet-10')
  const { json } = await shop.service.call('GET', '/inventory/10/history')
  expect((json as readonly unknown[])[0]).toMatchObject({ before, after: before + 3, reason: 'returned' })
  await page
    .getByRole('status')
    .getByText(`Pet number 10: saved, ${before + 3}`, { exact: true })
    .waitFor()
  await page.keyboard.press('Control+z')
  await page.getByText(`Undone. Pet number 10 is back at ${before}.`).waitFor()
})

test('Enter in the quantity of a pet asks before a large jump, and then saves it', async () => {
  const page = await shop.signedIn({ path: '/#/pets/2' })
  const field = page.getByLabel('In stock')
  await field.fill('20000000001831')
  await field.press('Enter')
  const question = page.getByRole('dialog', { name: 'Set Pet number 2 to 20,000,000,001,831?' })
  await question.getByRole('button', { name: 'Look at it again' }).click()
  await field.fill('4000')
  await field.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Set 4,000' }).click()
  await expectSoon(() => shop.inStock(2n), 4_000)
  const before = await shop.inStock(2n)
  await page.getByRole('button', { name: 'One less' }).click()
  await page.getByRole('status').getByText('3,999 in stock').first().waitFor()
  await expectSoon(() => shop.inStock(2n), before - 1)
})

test('an implausible amount is dropped if the user goes back, and its question does not open over another view', async () => {
  const page = await shop.signedIn({ path: '/#/pets/3' })
  await page.getByLabel('In stock').waitFor()
  await page.evaluate(() => {
    location.hash = '#/stock'
  })
  const before = await shop.inStock(3n)
  await goToRow(page, 3n)
  await page.keyboard.type('20000000001831')
  await page.goBack()
  await page.getByLabel('In stock').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await shop.inStock(3n)).toBe(before)
})
