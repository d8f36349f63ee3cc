import type { Page } from 'playwright-core'
import type { StockedPet } from '../../../server/src/core/catalog/pet.ts'

/** Slow for a scanner, and too fast for a person. */
const SECONDS_PER_KEY = 0.012

/** Ten of each pet in three categories, with ids from 1 and barcodes of thirteen digits. */
export function scannedPets(count: number): readonly StockedPet[] {
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(index + 1),
    name: `Pet number ${index + 1}`,
    categoryId: BigInt((index % 3) + 1),
    status: 'available',
    quantity: 10,
    barcode: barcodeOf(index + 1),
  }))
}

export function barcodeOf(petId: number): string {
  return String(4_006_381_000_000 + petId)
}

/**
 * Types as a scanner does. The keys have their own time stamps, so a busy machine does not change the result. The scanner
 * may pause before a character.
 */
export async function scan(
  page: Page,
  barcode: string,
  pause = { before: barcode.length, seconds: 0 },
): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  try {
    // Keeps a distance from keys that were typed before.
    const start = Date.now() / 1_000 + 0.2
    for (const [index, key] of [...barcode, 'Enter'].entries()) {
      const text = key === 'Enter' ? '\r' : key
      const paused = index >= pause.before ? pause.seconds : 0
      const timestamp = start + paused + index * SECONDS_PER_KEY
      await debug.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text, timestamp })
      await debug.send('Input.dispatchKeyEvent', { type: 'keyUp', key, timestamp: timestamp + 0.001 })
    }
  } finally {
    await debug.detach()
  }
}

/** Types a barcode and Enter as a person does, or a scanner that is too slow to be recognized. */
export async function typeBarcode(page: Page, barcode: string): Promise<void> {
  await page.keyboard.type(barcode, { delay: 60 })
  await page.keyboard.press('Enter')
}

/** Changes the size of the window. Resolves once the page has been drawn for the new size. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size)
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
}

/** Whether nothing has to be scrolled sideways. */
export async function fits(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, .card')].every(
      ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth,
    ),
  )
}
