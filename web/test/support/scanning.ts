import type { Page } from 'playwright-core'
import type { StockedPet } from '../../../server/src/core/catalog/pet.ts'

/** Ten of each in three categories, their ids from 1, with barcodes of thirteen digits. */
export function scannedPets(count: number): readonly StockedPet[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ id: BigInt(index + 1), name: `Pet number ${index + 1}`, categoryId: BigInt((index % 3) + 1) },
    ...{ status: 'available' as const, quantity: 10, barcode: barcodeOf(index + 1) },
  }))
}

export function barcodeOf(petId: number): string {
  return String(4_006_381_000_000 + petId)
}

/** What a scanner is to the page: a keyboard. */
export async function scan(page: Page, barcode: string): Promise<void> {
  await page.keyboard.type(barcode)
  await page.keyboard.press('Enter')
}

/** Nobody has to scroll sideways. */
export async function fits(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, .card')].every(
      ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth,
    ),
  )
}
