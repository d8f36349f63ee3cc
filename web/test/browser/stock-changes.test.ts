import { expect, test } from 'bun:test'
import { addPets } from '../../../server/test/support/add-pets.ts'
import { axe } from '../support/axe.ts'
import { petsNumbered } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, fieldOf, rowOf, saved, shows, typeQuantity as type } from '../support/stock-table.ts'

const ODD = 9007199254740993n
const shop = useShop({ pets: petsNumbered(14, (index) => (index === 0 ? { id: ODD } : {})) })

test('Enter edits the quantity in place and goes down a row, and the save holds only over what was seen', async () => {
  const page = await shop.signedIn()
  await shows(page, 12n, 10)
  const request = page.waitForRequest('**/v1/inventory/adjustments')
  await type(page, 12n, 42)
  await saved(page, 12n)
  await shows(page, 12n, 42)
  expect(await shop.inStock(12n)).toBe(42)
  expect((await request).postDataJSON()).toEqual({
    reason: 'corrected',
    changes: [{ petId: 12, quantity: 42, expected: 10 }],
  })

  // Another text takes the place of the old one; Esc leaves the old one.
  expect(await activeRow(page)).toBe('pet-13')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.type('77')
  expect(await fieldOf(page, 12n).inputValue()).toBe('77')
  await page.keyboard.press('Escape')
  await shows(page, 12n, 42)
  await page.keyboard.type('1x')
  expect(await fieldOf(page, 12n).getAttribute('aria-invalid')).toBe('true')
  await page.keyboard.press('Enter')
  await fieldOf(page, 12n).fill(String(2 ** 53))
  await page.keyboard.press('Enter')
  expect(await activeRow(page)).toBe('pet-12')
  await page.keyboard.press('Escape')
  expect(await shop.inStock(12n)).toBe(42)
})

test('the buttons change it by one, quick clicks together, and never below nothing', async () => {
  const page = await shop.signedIn()
  await shows(page, ODD, 10)
  const button = (name: string) => page.getByRole('button', { name: `${name} Pet number 1`, exact: true })
  for (let step = 0; step < 5; step++) await button('One more').click()
  await button('One less').click()
  await shows(page, ODD, 14)
  await saved(page, ODD)
  expect(await shop.inStock(ODD)).toBe(14)
  await shop.setElsewhere(ODD, 1)
  await shows(page, ODD, 1)
  await button('One less').click()
  await shows(page, ODD, 0)
  await saved(page, ODD)
  expect(await shop.inStock(ODD)).toBe(0)
  expect(await button('One less').isDisabled()).toBe(true)
})

test('a conflict shows what the other one set, and lets one keep it or set mine', async () => {
  const mine = await shop.signedIn({ provokes: [412] })
  await shows(mine, 2n, 10)
  await fieldOf(mine, 2n).fill('5')
  await shop.setElsewhere(2n, 7)
  await mine.keyboard.press('Enter')
  await rowOf(mine, 2n).getByText('Somebody set 7').waitFor()
  await axe(mine)
  expect(await shop.inStock(2n)).toBe(7)
  await mine.getByRole('button', { name: 'Keep 7 for Pet number 2' }).click()
  await expectSoon(() => activeRow(mine), 'pet-2')
  await shows(mine, 2n, 7)
  expect(await shop.inStock(2n)).toBe(7)

  await fieldOf(mine, 2n).fill('5')
  await shop.setElsewhere(2n, 8)
  await mine.keyboard.press('Enter')
  await mine.getByRole('button', { name: 'Set 5 for Pet number 2' }).click()
  await saved(mine, 2n)
  await shows(mine, 2n, 5)
  expect(await shop.inStock(2n)).toBe(5)
})

test('what another page changes appears at once, and is marked for a moment', async () => {
  const [page, other] = await Promise.all([shop.signedIn(), shop.signedIn()])
  await Promise.all([shows(page, 3n, 10), shows(other, 3n, 10)])
  // The mark does not last long.
  const marked = page.locator('#pet-3.stock-row--marked').waitFor()
  await type(other, 3n, 33)
  await Promise.all([marked, saved(other, 3n)])
  await shows(page, 3n, 33)
  expect(await other.locator('.stock-row--marked').count()).toBe(0)

  await addPets(shop.service.store, [
    { id: 500n, name: 'A new one', categoryId: 1n, status: 'available', quantity: 3 },
  ])
  await rowOf(page, 500n).getByText('A new one').waitFor()
  await page.locator('#pet-3.stock-row--marked').waitFor({ state: 'detached' })
})

test('the last changes can be undone, one after the other', async () => {
  for (const petId of [4n, 5n]) await shop.setElsewhere(petId, 10)
  const page = await shop.signedIn()
  await shows(page, 4n, 10)
  await type(page, 4n, 20)
  await saved(page, 4n)
  await type(page, 5n, 50)
  await page.getByText('Pet number 5: 10 → 50').waitFor()
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone. Pet number 5 is back at 10.').waitFor()
  expect(await shop.inStock(5n)).toBe(10)
  await page.keyboard.press('Control+z')
  await shows(page, 4n, 10)
  await page.getByText('Undone. Pet number 4 is back at 10.').waitFor()
  expect(await shop.inStock(4n)).toBe(10)
  expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true)
})

test('a key that may not change the stock reads the table and is offered no change', async () => {
  const { secret } = await shop.service.createKey('enterprise', { permissions: ['orders'] })
  const reader = await shop.signedIn({ key: secret })
  const before = await shop.inStock(9n)
  await rowOf(reader, 9n).getByText(String(before), { exact: true }).last().waitFor()
  const table = reader.getByRole('table', { name: 'Stock' })
  expect(await table.getByRole('button', { name: /^One/ }).count()).toBe(0)
  expect(await table.getByRole('textbox').count()).toBe(0)
  expect(await reader.getByRole('checkbox', { name: /Select/ }).count()).toBe(0)
  expect(await reader.getByRole('button', { name: 'Undo' }).count()).toBe(0)
})

test('a tab that nobody looks at holds no stream, and catches up when it is seen again', async () => {
  const page = await shop.signedIn()
  const before = await shop.inStock(10n)
  await shows(page, 10n, before)
  const look = (visibilityState: string) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, visibilityState)
  const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/inventory/events'))
  await look('hidden')
  await ended
  await shop.setElsewhere(10n, before + 5)
  await shop.setElsewhere(10n, before + 6)
  await look('visible')
  await shows(page, 10n, before + 6)
  await page.getByText('Live', { exact: true }).waitFor()
})
