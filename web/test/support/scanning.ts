import type { Page } from 'playwright-core'

/** Slow for a scanner, and too fast for a person. */
const SECONDS_PER_KEY = 0.012

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
