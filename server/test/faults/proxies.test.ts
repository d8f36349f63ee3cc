import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { missingPackage } from '../../../wire/test/debian-package.ts'
import { openShop, PROXIES, updatesDuring } from './proxies.ts'

setDefaultTimeout(120_000)

/** The short form of `npm run torture -- --only proxies`. */
describe('two instances behind a proxy, which is configured as docs/scaling.md says', () => {
  test.concurrent.each([...PROXIES])('lose no update in a rolling restart: %s', async (name) => {
    const missing = await missingPackage(name)
    if (missing !== undefined) {
      console.warn(`skipped: ${missing}`)
      return
    }
    const shop = await openShop(name)
    try {
      const { answered, failures } = await updatesDuring(shop.address, { connections: 16 }, async () => {
        await shop.restartAll()
        await Bun.sleep(300)
      })
      expect(failures).toEqual([])
      expect(answered).toBeGreaterThan(16)
    } finally {
      await shop.stop()
    }
  })
})
