import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'

export function rowOf(page: Page, petId: bigint): Locator {
  return page.locator(`#pet-${petId}`)
}

/** The quantity that the row shows. */
export function quantityOf(page: Page, petId: bigint): Locator {
  return rowOf(page, petId).locator('.stepper__value')
}

/** Waits until the row shows this quantity. */
export async function shows(page: Page, petId: bigint, quantity: number): Promise<void> {
  await quantityOf(page, petId).getByText(quantity.toLocaleString('en'), { exact: true }).waitFor()
}

/** Where its quantity is typed. */
export function fieldOf(page: Page, petId: bigint): Locator {
  return rowOf(page, petId).getByRole('textbox')
}

/** Waits until the row says that its change was made. */
export async function saved(page: Page, petId: bigint): Promise<void> {
  await rowOf(page, petId).getByText('Saved').waitFor()
}

/** Goes to the table and to this row by keys alone; it has to be among the rows shown. */
export async function goToRow(page: Page, petId: bigint): Promise<void> {
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  const place = await rowOf(page, petId).getAttribute('aria-rowindex')
  for (let step = 2; step < Number(place); step++) await page.keyboard.press('ArrowDown')
  expect(await activeRow(page)).toBe(`pet-${petId}`)
}

/** Sets a quantity by keys alone. */
export async function typeQuantity(page: Page, petId: bigint, quantity: number): Promise<void> {
  await goToRow(page, petId)
  await page.keyboard.press('Enter')
  await page.keyboard.type(String(quantity))
  await page.keyboard.press('Enter')
}

export async function activeRow(page: Page): Promise<string | null> {
  return page.getByRole('grid').getAttribute('aria-activedescendant')
}

/** The names in the order in which they are drawn. */
export async function namesShown(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.stock-row')]
      .sort((one, other) => Number(one.ariaRowIndex) - Number(other.ariaRowIndex))
      .map((row) => row.querySelector('.stock-row__name')?.textContent ?? ''),
  )
}

/** Waits until this is how many are shown, such as `3 of 2,000 pets`. */
export async function countIs(page: Page, words: string | RegExp): Promise<void> {
  await page.getByRole('status').getByText(words, { exact: true }).waitFor()
}
