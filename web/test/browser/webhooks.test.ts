import { afterAll, expect, test } from 'bun:test'
import { verifyWebhook } from '@petstore/client'
import type { Page } from 'playwright-core'
import { until } from '../../../server/test/support/until.ts'
import { axe } from '../support/axe.ts'
import { fits, PHONE } from '../support/layout.ts'
import { petsNumbered } from '../support/pets.ts'
import { mayLeave, signIn, useShop } from '../support/shop.ts'

const PETS = petsNumbered(30)
const LONG_ANSWER = `{"error":"${'no room on the shelf, '.repeat(12)}"}`

/** The deliveries that the receiver got. */
const received: { readonly path: string; readonly headers: Headers; readonly body: string }[] = []
/** The responses of the receiver, by path. */
const answers = new Map<string, () => Response>()
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const path = new URL(request.url).pathname
    received.push({ path, headers: request.headers, body: await request.text() })
    return answers.get(path)?.() ?? new Response('thank you')
  },
})
const at = (path: string) => `http://127.0.0.1:${receiver.port}${path}`
const got = (path: string) => received.filter((one) => one.path === path)
afterAll(() => receiver.stop(true))

const shop = useShop({
  pets: PETS,
  settings: { webhookPrivateAddresses: 'on' },
  retryDelaysMs: [3_600_000],
})

interface WireWebhook {
  readonly id: number
  readonly url: string
  readonly state: string
  readonly failingSince?: string
}

const make = (path: string) => shop.send('POST', '/webhooks', { url: at(path), kinds: ['stock.changed'] })

/** The webhook as the service has it. */
async function found(path: string): Promise<WireWebhook | undefined> {
  const all = (await shop.service.call('GET', '/webhooks')).json as readonly WireWebhook[]
  return all.find(({ url }) => url === at(path))
}

/** Waits until this many deliveries are recorded, which is a moment after the receiver got them. */
function taken(path: string, count: number): Promise<void> {
  return until(async () => {
    const answer = await shop.service.call('GET', `/webhooks/${(await found(path))?.id}/deliveries?limit=100`)
    const attempts = answer.json as readonly { readonly delivered: boolean }[]
    return attempts.filter(({ delivered }) => delivered).length === count
  })
}

const card = (page: Page, path: string) => page.getByRole('listitem', { name: `Webhook to ${at(path)}` })
const sure = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
const press = (page: Page, path: string, label: string) =>
  card(page, path)
    .getByRole('button', { name: `${label}: ${at(path)}` })
    .click()
const isNow = (page: Page, path: string, word: string) =>
  card(page, path).locator('.webhook__head .badge').getByText(word, { exact: true }).waitFor()

test('by keys alone: make a webhook, keep its secret, test it, and see what was sent', async () => {
  const page = await shop.signedIn({ provokes: [400] })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const { keyboard } = page
  await page.getByRole('link', { name: 'Webhooks' }).focus()
  await keyboard.press('Enter')
  await page.getByText('No webhooks yet').waitFor()
  expect(await page.title()).toBe('Webhooks · Petstore')
  expect(await page.getByRole('link', { name: 'How webhooks work' }).getAttribute('href')).toMatch(/^\/docs/)

  await page.getByRole('button', { name: 'New webhook' }).focus()
  await keyboard.press('Enter')
  const form = page.getByRole('form', { name: 'New webhook' })
  const address = form.getByLabel('Address of the receiver')
  const refused = async (words: string | RegExp) => {
    await form.getByText(words).waitFor()
    expect(await address.getAttribute('aria-invalid')).toBe('true')
    await page.locator('[type=url]:focus').waitFor()
  }
  await keyboard.press('Enter')
  await refused('Enter the address of the receiver.')
  await keyboard.type('ftp://shop.example/hooks')
  await keyboard.press('Enter')
  await refused('The address must begin with https:// or http://.')
  await axe(page)
  await address.fill(at('/first'))
  // The events that keep another shop in sync are preselected.
  const chosen = form.getByRole('checkbox', { checked: true })
  expect(await chosen.count()).toBe(3)
  for (const _ of '123') await chosen.first().uncheck()
  await address.press('Enter')
  await form.getByRole('alert').getByText('Choose at least one.').waitFor()
  await keyboard.press('Space')
  await keyboard.press('Enter')

  const box = page.getByRole('group', { name: /^Secret of the webhook/ })
  const secret = await box.locator('code').innerText()
  expect(secret).toMatch(/^whsec_/)
  await box.getByText('it is not shown again').waitFor()
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await box.getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
  // The secret is still there after a visit to another view.
  await page.getByRole('link', { name: 'Orders' }).click()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await box.getByRole('button', { name: 'I have kept it' }).click()
  await box.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(secret)

  await card(page, '/first').getByText('Sends quantities').waitFor()
  await isNow(page, '/first', 'On')
  await shop.setElsewhere(1n, 11)
  await taken('/first', 1)
  const [{ headers, body } = { headers: new Headers(), body: '' }] = got('/first')
  expect(await verifyWebhook(headers, body, secret)).toMatchObject({ type: 'stock.changed' })

  await press(page, '/first', 'Deliveries')
  const deliveries = card(page, '/first').locator('.delivery')
  await deliveries.getByText('A quantity changed', { exact: true }).waitFor()
  await press(page, '/first', 'Send test event')
  const tested = card(page, '/first').locator('.webhook-panel')
  await tested.getByText('Delivered (200)').waitFor()
  await tested.getByText('thank you').waitFor()
  await tested.getByText(/^\d+ ms$/).waitFor()
  // The newest is first, without a refresh.
  await deliveries.first().getByText('Test event', { exact: true }).waitFor()
  expect(await deliveries.count()).toBe(2)
  await axe(page)

  // The receiver has lost an event, and gets it again.
  const again = deliveries.getByRole('button', { name: 'Send again from here' })
  expect(await again.count()).toBe(1)
  await again.click()
  await page.locator('.toast').getByText('This event and all later ones are sent again.').waitFor()
  await taken('/first', 3)
  expect(got('/first')[2]?.headers.get('webhook-id')).toBe(headers.get('webhook-id'))
})

test('a failing webhook says since when and what to do; it is paused, resumed, edited and removed, and gets a new secret', async () => {
  answers.set('/broken', () => new Response(LONG_ANSWER, { status: 500 }))
  await make('/broken')
  const changes = PETS.map(({ id }) => ({ petId: Number(id), delta: 1 }))
  await shop.send('POST', '/inventory/adjustments', { reason: 'received', changes })
  await until(async () => (await found('/broken'))?.failingSince !== undefined)
  const page = await shop.signedIn({
    path: '/#/webhooks',
    colorScheme: 'dark',
    viewport: PHONE,
    provokes: [404],
  })
  const hook = card(page, '/broken')
  await isNow(page, '/broken', 'Failing')
  await hook.getByText(/^\d+ events waiting, the first just now$/).waitFor()
  await hook.getByText(/^Next attempt in \d/).waitFor()
  await hook.getByText(/^Failing since .*Nothing is lost/).waitFor()
  await press(page, '/broken', 'Deliveries')
  const row = hook.locator('.delivery').first()
  await row.getByText('Failed (500)').waitFor()
  await row.getByText('the receiver answered 500').waitFor()
  await row.locator('summary').click()
  await row.locator('pre').getByText(LONG_ANSWER).waitFor()
  answers.delete('/broken')
  await press(page, '/broken', 'Send test event')
  await hook.locator('.delivery').getByText('Test event', { exact: true }).waitFor()

  // A change of the webhook retries at once: more than a page is delivered.
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/webhooks/*', (route) => held.promise.then(() => route.continue()))
  await press(page, '/broken', 'Pause')
  expect(await mayLeave(page)).toBe(false)
  held.resolve()
  await isNow(page, '/broken', 'Paused')
  await hook.getByText('Nothing is sent until you resume it').waitFor()
  await press(page, '/broken', 'Resume')
  await isNow(page, '/broken', 'On')
  // And the test.
  await taken('/broken', 31)
  await page.getByRole('button', { name: 'Refresh deliveries' }).click()
  await hook.getByText('The latest 25').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await hook.getByText(/^(The latest 50|\d+ in all)$/).waitFor()
  expect(await hook.locator('.delivery').count()).toBeGreaterThan(25)
  await page.getByLabel('Only failed').check()
  await hook.getByText(/^\d+ failed of the latest \d+$/).waitFor()
  expect(await hook.locator('.delivery .badge--positive').count()).toBe(0)
  expect(await hook.locator('.delivery .badge--negative').count()).toBeGreaterThan(0)
  await fits(page)
  await axe(page)

  await press(page, '/broken', 'New secret')
  const question = page.getByRole('dialog')
  await question.getByText('For 24 hours every delivery is signed with both').waitFor()
  // The button that changes nothing has the focus.
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  await press(page, '/broken', 'New secret')
  await sure(page, 'Make a new secret')
  await hook
    .locator('.webhook-secret code')
    .getByText(/^whsec_/)
    .waitFor()
  await axe(page)
  await hook.getByRole('button', { name: 'I have kept it' }).click()

  await press(page, '/broken', 'Edit')
  await hook.getByLabel('Address of the receiver').fill(at('/fixed'))
  await hook.getByLabel('An order was made').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await card(page, '/fixed').getByText('Sends quantities, new orders').waitFor()
  expect(await found('/fixed')).toMatchObject({ kinds: ['stock.changed', 'order.created'] })

  await press(page, '/fixed', 'Remove')
  await question.getByText('This cannot be undone.').waitFor()
  await page.keyboard.press('Escape')
  expect((await found('/fixed'))?.state).toBe('on')
  await press(page, '/fixed', 'Remove')
  await sure(page, 'Remove')
  await card(page, '/fixed').waitFor({ state: 'detached' })
  expect(await found('/fixed')).toBeUndefined()
  await page.locator(':focus', { hasText: /^New webhook$/ }).waitFor()

  // A webhook that somebody else has removed disappears with a notice.
  await shop.service.call('DELETE', `/webhooks/${(await found('/first'))?.id}`)
  await press(page, '/first', 'Pause')
  await page
    .locator('.toast')
    .getByText(/^Somebody else has removed the webhook/)
    .waitFor()
  await page.getByText('No webhooks yet').waitFor()
})

test('a webhook that is off has a notice on every view, with few requests, and only for keys that may change webhooks', async () => {
  answers.set('/gone', () => new Response('moved away', { status: 410 }))
  await make('/gone')
  await shop.setElsewhere(2n, 50)
  await until(async () => (await found('/gone'))?.state === 'off')
  const page = await shop.page({ setsClock: true })
  await page.clock.install()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const looks = () => asked.filter((path) => path.startsWith('/v1/webhooks')).length
  await signIn(page, shop.service.key)
  const line = page.locator('.notices').getByText(/^The webhook to 127\.0\.0\.1:\d+ is turned off/)
  await line.waitFor()
  expect(looks()).toBe(1)
  await page.clock.fastForward('04:00')
  expect(looks()).toBe(1)
  await page.clock.fastForward('01:10')
  await until(() => looks() === 2)
  await page.clock.resume()

  await page.getByRole('link', { name: 'See webhooks' }).click()
  await isNow(page, '/gone', 'Off')
  await card(page, '/gone')
    .getByText(/^Turned off .*: the receiver answered 410 Gone\. /)
    .waitFor()
  answers.delete('/gone')
  await press(page, '/gone', 'Turn on')
  await isNow(page, '/gone', 'On')
  await line.waitFor({ state: 'detached' })
  await until(() => got('/gone').length === 2)

  const { secret } = await shop.service.createKey('enterprise', { permissions: ['stock', 'orders'] })
  const other = await shop.page({ path: '/#/webhooks' })
  const theirs: string[] = []
  other.on('request', (request) => theirs.push(new URL(request.url()).pathname))
  await signIn(other, secret)
  await other.getByRole('heading', { name: 'This key may not see webhooks' }).waitFor()
  await other.getByText('Live', { exact: true }).waitFor()
  // A reloaded page, which does not know the permissions of its key yet, does not request webhooks either.
  await other.reload()
  await other.getByRole('heading', { name: 'This key may not see webhooks' }).waitFor()
  expect(await other.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  expect(theirs.filter((path) => path.startsWith('/v1/webhooks'))).toEqual([])
})
