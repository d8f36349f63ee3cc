import { expect, test } from 'bun:test'
import { axe } from './support/axe.ts'
import { BROWSER_TEST_MS, useShop } from './support/shop.ts'
import { goToRow, rowOf, shows } from './support/stock-table.ts'

/** One that is free now: the service is to come back under the same address. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop()
  return port
}

let isBroken = false

const shop = useShop({
  realTime: false,
  settings: { port: String(freePort()) },
  wrapStore: (store) => ({
    ...store,
    stockChangesSince: async (...request) => {
      if (isBroken) throw new TypeError('a bug, as far as the service can tell')
      return store.stockChangesSince(...request)
    },
  }),
})

test(
  'a limit that is reached counts down, and then what was waiting goes on',
  async () => {
    const { service } = shop
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 5, perDay: 1_000 } })
    const page = await shop.signedIn({ key: secret, provokes: [429] })
    await rowOf(page, 1n).getByText('Biscuit').waitFor()
    service.now += 58_000
    await goToRow(page, 1n)
    await page.keyboard.press('+')
    await rowOf(page, 1n).getByText('Saved').waitFor()
    await page.keyboard.press('+')
    await page.getByText('The limit of this key is reached.').waitFor()
    await page.getByText(/^Goes on in [12] s$/).waitFor()
    await rowOf(page, 1n).getByText('Saving').waitFor()
    service.now += 5_000
    await rowOf(page, 1n).getByText('Saved').waitFor()
    await page.getByText('The limit of this key is reached.').waitFor({ state: 'detached' })
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(6)
  },
  BROWSER_TEST_MS,
)

test(
  'a service that cannot do its work is told of, until it can',
  async () => {
    const { service } = shop
    const page = await shop.signedIn({ provokes: [503] })
    await shows(page, 2n, 1)
    await service.run('ALTER TABLE stock RENAME TO away')
    await goToRow(page, 2n)
    await page.keyboard.press('+')
    await page.getByText('The service cannot do its work at the moment').waitFor()
    await rowOf(page, 2n).getByText('Saving').waitFor()
    await service.run('ALTER TABLE away RENAME TO stock')
    await rowOf(page, 2n).getByText('Saved').waitFor()
    await page.getByText('The service cannot do its work').waitFor({ state: 'detached' })
    expect((await service.call('GET', '/inventory/2')).item.quantity).toBe(2)
  },
  BROWSER_TEST_MS,
)

test(
  'a service that is gone and back is noticed both times, and nothing is missed or lost',
  async () => {
    const { service } = shop
    const page = await shop.signedIn({ provokes: ['no connection'] })
    await shows(page, 3n, 0)
    await page.getByText('Live', { exact: true }).waitFor()
    await service.halt()
    await page.getByText('Connection lost.').waitFor()
    await page.getByText('Offline', { exact: true }).waitFor()
    await axe(page)
    await page.getByRole('button', { name: 'One more Goldie' }).click()
    await rowOf(page, 3n).getByText('Saving').waitFor()

    await service.resume()
    await service.setQuantity(9007199254740993n, '{"quantity": 70}')
    await page
      .getByRole('button', { name: 'Reconnect now' })
      .click({ timeout: 1_000 })
      .catch(() => {})
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('Connection lost.').waitFor({ state: 'detached' })
    await shows(page, 9007199254740993n, 70)
    await rowOf(page, 3n).getByText('Saved').waitFor()
    expect((await service.call('GET', '/inventory/3')).item.quantity).toBe(1)
  },
  BROWSER_TEST_MS,
)

test(
  'a stock that cannot be loaded says so, and loads when asked again',
  async () => {
    const { service } = shop
    isBroken = true
    await service.setQuantity(1n, '{"quantity": 31}')
    const page = await shop.signedIn({ provokes: [500] })
    await page.getByRole('alert').getByText('The stock could not be loaded').waitFor()
    isBroken = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await shows(page, 1n, 31)
  },
  BROWSER_TEST_MS,
)
