import type { Locator, Page } from 'playwright-core'
import { expectSoon } from './soon.ts'

export function rowOf(page: Page, petId: bigint): Locator {
  return page.locator(`#pet-${petId}`)
}

/** Where its quantity is typed. */
export function fieldOf(page: Page, petId: bigint): Locator {
  return rowOf(page, petId).getByRole('textbox')
}

/** Waits until the row shows this quantity. */
export async function shows(page: Page, petId: bigint, quantity: number): Promise<void> {
  await rowOf(page, petId).waitFor()
  await expectSoon(() => fieldOf(page, petId).inputValue(), String(quantity))
}

/** Waits until the row says that its change was made. */
export async function saved(page: Page, petId: bigint): Promise<void> {
  await rowOf(page, petId).getByText('Saved').waitFor()
}

/** Goes to the field of this row, as with Tab. */
export async function goToRow(page: Page, petId: bigint): Promise<void> {
  await fieldOf(page, petId).selectText()
}

/** Sets a quantity by keys alone. */
export async function typeQuantity(page: Page, petId: bigint, quantity: number): Promise<void> {
  await goToRow(page, petId)
  await page.keyboard.type(String(quantity))
  await page.keyboard.press('Enter')
}

/** The row that has the focus. */
export async function activeRow(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.closest('.stock-row')?.id)
}

/** The names in their order. */
export async function namesShown(page: Page): Promise<readonly string[]> {
  return page.locator('.stock-row .list-row__name').allTextContents()
}

/** Waits until this is how many are shown, such as `3 of 2,000 pets`. */
export async function countIs(page: Page, words: string | RegExp): Promise<void> {
  await page.getByRole('status').getByText(words, { exact: true }).waitFor()
}
