import { expect, test } from 'bun:test'
import { freePort } from '../../../server/test/support/free-port.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { axe } from '../support/axe.ts'
import { useShop } from '../support/shop.ts'
import { rowOf, shows } from '../support/stock-table.ts'

/** Uses up a key's minute. */
async function spendAll(service: TestService, key: string): Promise<void> {
  while ((await service.call('GET', '/inventory', { key })).status !== 429);
}

let isBroken = false

const shop = useShop({
  realTime: false,
  // The service comes back under the same address.
  settings: { port: String(freePort()) },
  wrapStore: (store) => ({
    ...store,
    searchPets: async (...request) => {
      if (isBroken) throw new TypeError('a bug, as far as the service can tell')
      return store.searchPets(...request)
    },
  }),
})

test('a limit that is reached counts down, and then what was waiting goes on', async () => {
  const { service } = shop
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 60, perDay: 1_000 } })
  const page = await shop.signedIn({ key: secret, provokes: [429] })
  await rowOf(page, 1n).getByText('Biscuit').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await spendAll(service, secret)
  service.now += 55_000
  await page.getByRole('button', { name: 'One more Biscuit' }).click()
  await page.getByText('The limit of this key is reached.').waitFor()
  await page.getByText(/^Continues in \d s$/).waitFor()
  await rowOf(page, 1n).getByText('Saving').waitFor()
  await axe(page)
  service.now += 10_000
  await rowOf(page, 1n).getByText('Saved').waitFor()
  await page.getByText('The limit of this key is reached.').waitFor({ state: 'detached' })
  expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(5)
})

test('a service that cannot do its work is told of, until it can', async () => {
  const { service } = shop
  const page = await shop.signedIn({ provokes: [503] })
  await shows(page, 2n, 1)
  await service.run('ALTER TABLE log RENAME TO away')
  await page.getByRole('button', { name: 'One more Mittens' }).click()
  await page.getByText('The service cannot do its work at the moment').waitFor()
  await rowOf(page, 2n).getByText('Saving').waitFor()
  await axe(page)
  await service.run('ALTER TABLE away RENAME TO log')
  await rowOf(page, 2n).getByText('Saved').waitFor()
  await page.getByText('The service cannot do its work').waitFor({ state: 'detached' })
  expect((await service.call('GET', '/inventory/2')).item.quantity).toBe(2)
})

test('a service that is gone and back is noticed both times, and nothing is missed or lost', async () => {
  const { service } = shop
  const page = await shop.signedIn({ provokes: ['no connection'] })
  await shows(page, 3n, 0)
  await page.getByText('Live', { exact: true }).waitFor()
  // A network that swallows what is sent: only somebody who asks for it gets a new connection before long.
  let swallows = true
  await page.route('**/v1/inventory/events', (route) => (swallows ? undefined : route.continue()))
  const swallowed = page.waitForRequest('**/v1/inventory/events')
  await service.halt()
  await page.getByText('Connection lost.').waitFor()
  await page.getByText('Offline', { exact: true }).waitFor()
  await axe(page)
  await swallowed
  await service.resume()
  const button = await page.getByRole('button', { name: 'Reconnect now' }).elementHandle()
  // Pressed at once: a page that finds the way back by itself first takes the button away.
  swallows = false
  await button?.evaluate((element) => (element as HTMLElement).click())
  await page.getByText('Live', { exact: true }).waitFor()

  await service.halt()
  await page.getByText('Offline', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'One more Goldie' }).click()
  await rowOf(page, 3n).getByText('Saving').waitFor()
  await service.resume()
  await service.setQuantity(9007199254740993n, '{"quantity": 70}')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByText('Connection lost.').waitFor({ state: 'detached' })
  await shows(page, 9007199254740993n, 70)
  await rowOf(page, 3n).getByText('Saving').waitFor({ state: 'detached' })
  expect((await service.call('GET', '/inventory/3')).item.quantity).toBe(1)
})

test('a stock that cannot be loaded says so, and loads when asked again', async () => {
  const { service } = shop
  isBroken = true
  await service.setQuantity(1n, '{"quantity": 31}')
  const page = await shop.signedIn({ provokes: [500] })
  await page.getByRole('alert').getByText('The stock could not be loaded').waitFor()
  await axe(page)
  isBroken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await shows(page, 1n, 31)
})
