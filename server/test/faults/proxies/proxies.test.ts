import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { missingPackage } from '../../../../wire/test/debian-package.ts'
import { until } from '../../support/until.ts'
import { openShop, PROXIES, updatesDuring } from './proxies.ts'

setDefaultTimeout(120_000)

/**
 * An instance that stops closes its idle connections after a second. A busy machine can pause a
 * proxy for longer, so these updates are retried as the client does. `npm run torture -- --only proxies` does not retry.
 */
describe('two instances behind a proxy configured as in docs/scaling.md', () => {
  test.concurrent.each([...PROXIES])('lose no update in a rolling restart: %s', async (name) => {
    const missing = await missingPackage(name)
    if (missing !== undefined) {
      console.warn(`skipped: ${missing}`)
      return
    }
    const shop = await openShop(name)
    try {
      const { answered, failures } = await updatesDuring(
        shop.address,
        { connections: 16, gapMs: [5, 15], mode: 'retry' },
        async () => {
          await shop.restartAll()
          await Bun.sleep(300)
        },
      )
      expect(failures).toEqual([])
      expect(answered).toBeGreaterThan(16)
    } finally {
      await shop.stop()
    }
  })

  test.concurrent('HAProxy takes a hung instance out, and returns our Error body when all hang', async () => {
    const missing = await missingPackage('haproxy')
    if (missing !== undefined) {
      console.warn(`skipped: ${missing}`)
      return
    }
    const shop = await openShop('haproxy')
    try {
      shop.freeze(0)
      // The hung instance gets some of these. They end with an error, and the others succeed.
      const during = await Promise.all(Array.from({ length: 4 }, () => answerTo(shop.address)))
      const statuses = during.map(({ status }) => status)
      expect(statuses).toContain(200)
      expect(statuses).toContain(504)
      for (const { status, body } of during.filter((answer) => answer.status !== 200)) {
        expect(body).toEqual({ code: 'service_unavailable', message: expect.any(String), status })
      }
      const after = await Promise.all(Array.from({ length: 8 }, () => answerTo(shop.address)))
      expect(after.map(({ status }) => status)).toEqual(after.map(() => 200))

      shop.freeze(1)
      const all: Answer[] = []
      await until(async () => {
        answerTo(shop.address).then(
          (answer) => all.push(answer),
          () => {},
        )
        await Bun.sleep(100)
        return all.some(({ status }) => status === 503)
      })
      expect(all.find(({ status }) => status === 503)).toEqual({
        status: 503,
        contentType: 'application/json',
        retryAfter: '1',
        body: { code: 'service_unavailable', message: expect.any(String), status: 503 },
      })

      shop.thaw(0)
      await until(async () => (await answerTo(shop.address)).status === 200)
    } finally {
      await shop.stop()
    }
  })
})

interface Answer {
  readonly status: number
  readonly contentType: string | null
  readonly retryAfter: string | null
  readonly body: unknown
}

/** On a new connection: a used one may be closed without a response, so that its owner retries. */
async function answerTo(address: string): Promise<Answer> {
  const response = await fetch(`${address}/v1/inventory/1`, {
    method: 'PATCH',
    headers: {
      Authorization: 'Bearer pst_demo_enterprise',
      'Content-Type': 'application/json',
      Connection: 'close',
    },
    body: '{"quantity": 1}',
  })
  return {
    status: response.status,
    contentType: response.headers.get('Content-Type'),
    retryAfter: response.headers.get('Retry-After'),
    body: await response.json(),
  }
}
