import type { Page } from 'playwright-core'

/** Slow for a scanner, and too fast for hands. */
const GAP_S = 0.012

/**
 * Types as a scanner does. The times are those that the keys carry, and not how long the machine needs for them: the
 * test means the same on a busy one.
 */
export async function scan(page: Page, code: string): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  try {
    // Some time after whatever was typed before.
    const start = Date.now() / 1_000 + 0.2
    for (const [index, key] of [...code, 'Enter'].entries()) {
      const text = key === 'Enter' ? '\r' : key
      const pressed = { key, text, timestamp: start + index * GAP_S }
      await debug.send('Input.dispatchKeyEvent', { type: 'keyDown', ...pressed })
      await debug.send('Input.dispatchKeyEvent', { type: 'keyUp', key, timestamp: pressed.timestamp + 0.001 })
    }
  } finally {
    await debug.detach()
  }
}
