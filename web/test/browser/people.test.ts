import { afterEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { PHONE } from '../support/layout.ts'
import { scan, typeBarcode } from '../support/scanning.ts'
import { type PageOptions, personMenu, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

/** The clock of the service is that of the test, so that codes expire when the test says so. */
const shop = useShop({ realTime: false })
const MINUTE = 60_000

// Requests without a key of one test do not count in the next.
afterEach(() => {
  shop.service.now += 2 * MINUTE
})

/** A person who has a sign-in code. */
async function invite(name: string, permissions: readonly string[] = ['stock', 'orders']) {
  const { key } = await shop.send('POST', '/keys', { name, plan: 'business', permissions })
  const { id } = key as { id: string }
  return { id, code: await codeFor(id) }
}

async function codeFor(id: string): Promise<string> {
  return (await shop.send('POST', `/keys/${id}/pairing-code`)).code as string
}

async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Sign-in code').fill(code)
  await page.keyboard.press('Enter')
}

async function choosePin(page: Page, pin: string): Promise<void> {
  await page.getByLabel('New PIN').fill(pin)
  await page.getByLabel('Repeat the PIN').fill(pin)
  await page.getByRole('button', { name: 'Save the PIN and start' }).click()
  await personMenu(page).waitFor()
}

async function enterPin(page: Page, pin: string): Promise<void> {
  await page.getByLabel('PIN', { exact: true }).fill(pin)
  await page.keyboard.press('Enter')
}

/** A device on which the person works with the PIN 2468. */
async function deviceOf(name: string, options: PageOptions & { permissions?: readonly string[] } = {}) {
  const { id, code } = await invite(name, options.permissions)
  const page = await shop.page(options)
  const answer = page.waitForResponse((response) => response.url().endsWith('/keys/pair'))
  await typeCode(page, code)
  const { secret } = (await (await answer).json()) as { secret: string }
  await page.getByRole('heading', { name: `Hello, ${name}` }).waitFor()
  await choosePin(page, '2468')
  return { id, page, secret }
}

/** Everything that the browser keeps for the page. */
const storage = (page: Page) =>
  page.evaluate(async () => {
    const databases = await indexedDB.databases()
    const kept = {
      local: { ...localStorage },
      session: { ...sessionStorage },
      databases,
      cookie: document.cookie,
    }
    return JSON.stringify({
      ...kept,
      caches: await caches.keys(),
      state: history.state,
      address: location.href,
    })
  })

describe('signing in with a code', () => {
  test('the owner adds a person, whose phone signs in with the link of the QR code', async () => {
    // The countdown compares with the header Date, which is the real time.
    shop.service.now = Date.now()
    const owner = await shop.signedIn({ path: '/#/people' })
    await owner.getByRole('listitem').filter({ hasText: 'enterprise key' }).getByText('You').waitFor()
    await owner.getByRole('button', { name: 'Add a person' }).click()
    await owner.getByRole('button', { name: 'Add and show the code' }).click()
    await owner.getByText('Enter a name.').waitFor()
    await axe(owner)
    await owner.getByLabel('Name').fill('Anna')
    await owner.keyboard.press('Enter')
    await owner.getByRole('img', { name: /QR code/ }).waitFor()
    await owner.getByText(/Works once, for (10:00|9:\d\d) more minutes/).waitFor()
    await axe(owner)
    const code = (await owner.locator('.pairing__code').innerText()).trim()
    expect(code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)

    const requests: string[] = []
    const phone = await shop.page({ viewport: PHONE, isTouch: true, path: '/docs' })
    phone.on('request', (request) => requests.push(request.url()))
    await phone.goto(`${shop.service.address}/#pair=${code.replace('-', '')}`)
    await phone.getByRole('heading', { name: 'Hello, Anna' }).waitFor()
    await axe(phone)
    expect(phone.url()).toBe(`${shop.service.address}/`)
    expect(requests.filter((url) => url.includes(code.slice(0, 4)))).toEqual([])
    await phone.getByRole('button', { name: 'Only I use this device' }).click()
    await phone.getByRole('link', { name: 'Biscuit' }).waitFor()
    await phone.goBack()
    expect(phone.url()).toBe(`${shop.service.address}/docs`)
    await phone.goForward()
    expect(phone.url()).not.toContain('pair')
    await personMenu(phone).click()
    await phone.getByText('May change stock, orders').waitFor()
    await owner.getByText('Anna has signed in.').waitFor()
    await owner.getByRole('button', { name: 'Done' }).click()
    await owner.getByRole('listitem').filter({ hasText: 'Anna' }).getByText('May change stock').waitFor()
    await axe(owner)
  })

  test('a code can be typed in any case and with blanks, works once, and not after 10 minutes', async () => {
    const { id, code } = await invite('Ben')
    const page = await shop.page({ provokes: [401] })
    await typeCode(page, 'ABC')
    await page.getByRole('alert').getByText('A code has 8 letters and digits.').waitFor()
    await typeCode(page, code.toLowerCase().replace('-', '  '))
    await page.getByRole('heading', { name: 'Hello, Ben' }).waitFor()

    const other = await shop.page({ provokes: [401] })
    await typeCode(other, code)
    await other.getByRole('alert').getByText('was used before').waitFor()
    const late = await codeFor(id)
    shop.service.now += 10 * MINUTE
    await typeCode(other, late)
    await other.getByRole('alert').getByText('older than 10 minutes').waitFor()
    await typeCode(other, await codeFor(id))
    await other.getByRole('heading', { name: 'Hello, Ben' }).waitFor()
  })

  test('waits when the network sent too many requests without a key, also with the right code', async () => {
    const { id } = await invite('Cleo')
    const page = await shop.page({ provokes: [429] })
    const probe = () => shop.service.call('GET', '/inventory', { key: null })
    while ((await probe()).status !== 429) {}
    await typeCode(page, await codeFor(id))
    await page.getByRole('alert').getByText('Too many attempts from this network. Try again in').waitFor()
    shop.service.now += MINUTE
    await typeCode(page, await codeFor(id))
    await page.getByRole('heading', { name: 'Hello, Cleo' }).waitFor()
  })
})

describe('a shared device', () => {
  test('stores the key only encrypted with the PIN, and asks for the PIN after a reload', async () => {
    const { page, secret } = await deviceOf('Dora')
    for (const text of [secret, secret.slice(9, 30), 'pst_', '2468'])
      expect(await storage(page)).not.toContain(text)
    await page.reload()
    await page.getByRole('button', { name: 'Dora' }).click()
    await axe(page)
    expect(await page.getByRole('table', { name: 'Stock' }).count()).toBe(0)
    await enterPin(page, '12')
    await page.getByRole('alert').getByText('4 to 8 digits').waitFor()
    await enterPin(page, '2468')
    await page.getByRole('link', { name: 'Biscuit' }).waitFor()
    for (const text of [secret, secret.slice(9, 30), 'pst_', '2468'])
      expect(await storage(page)).not.toContain(text)
  })

  test('does not take a scan on a locked device for a PIN', async () => {
    const { page } = await deviceOf('Fay')
    await page.reload()
    await page.getByRole('button', { name: 'Fay' }).click()
    await page.getByLabel('PIN', { exact: true }).waitFor()
    await scan(page, '40063813')
    await page.getByRole('alert').getByText('This device is locked.').waitFor()
    await typeBarcode(page, '4006381333931')
    await page.getByRole('alert').getByText('A PIN has 4 to 8 digits.').waitFor()
    await page.getByLabel('PIN', { exact: true }).fill('1111')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('9 tries left').waitFor()
  })

  test('forgets a person after ten wrong PINs, which a reload and another tab do not reset', async () => {
    const { page } = await deviceOf('Emil')
    await page.evaluate(() => {
      const people = localStorage.getItem('petstore.people') ?? ''
      localStorage.setItem('petstore.people', people.replace('"attempts":0', '"attempts":8'))
    })
    await page.reload()
    await page.getByRole('button', { name: 'Emil' }).click()
    await enterPin(page, '1111')
    await page.getByRole('alert').getByText('One more wrong PIN').waitFor()
    const tab = await page.context().newPage()
    await tab.goto(shop.service.address)
    await tab.getByRole('button', { name: 'Emil' }).click()
    await enterPin(tab, '1111')
    await tab.getByText('10 wrong PINs: Emil was removed from this device.').waitFor()
    for (const text of ['Emil', 'encryptedKey'])
      await expectSoon(async () => (await storage(page)).includes(text), false)
    await page.reload()
    await page.getByLabel('Sign-in code').waitFor()
  })

  test('is used by several people in turn, and locks all tabs with a button, a key, or after idle time', async () => {
    const { page } = await deviceOf('Finn', { setsClock: true })
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByRole('heading', { name: 'Finn' }).waitFor()
    await page.getByRole('button', { name: 'Use a code' }).click()
    await typeCode(page, (await invite('Gina')).code)
    await page.getByRole('heading', { name: 'Hello, Gina' }).waitFor()
    // Everybody on a shared device has a PIN.
    expect(await page.getByRole('button', { name: 'Only I use this device' }).count()).toBe(0)
    await choosePin(page, '13579')

    const tab = await page.context().newPage()
    await tab.goto(shop.service.address)
    await tab.getByRole('heading', { name: 'Who is working?' }).waitFor()
    await axe(tab)
    await tab.getByRole('button', { name: 'Finn' }).click()
    await enterPin(tab, '2468')
    await personMenu(tab).click()
    await tab.getByRole('button', { name: 'Switch person' }).click()
    for (const locked of [tab, page]) await locked.getByRole('heading', { name: 'Who is working?' }).waitFor()

    await page.clock.install()
    await page.getByRole('button', { name: 'Gina' }).click()
    await enterPin(page, '13579')
    await personMenu(page).click()
    await page.getByLabel('Lock without use after').selectOption('15 minutes')
    await page.clock.fastForward(14 * MINUTE)
    await page.getByRole('link', { name: 'Biscuit' }).waitFor()
    await page.clock.fastForward(MINUTE)
    await page.getByText('nobody used this device for 15 minutes').waitFor()
    await enterPin(page, '13579')
    await page.getByRole('link', { name: 'Biscuit' }).waitFor()
    await page.keyboard.press('Alt+l')
    await page.getByRole('heading', { name: 'Gina' }).waitFor()
  })

  test('gives a key that was signed in without a PIN a PIN, and forgets the person after sign-out', async () => {
    const page = await shop.signedIn()
    await personMenu(page).click()
    await page.getByRole('button', { name: 'Set a PIN' }).click()
    await page.getByLabel('New PIN').fill('8642')
    await page.getByLabel('Repeat the PIN').fill('8643')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The two PINs differ.').waitFor()
    await page.getByLabel('Repeat the PIN').fill('8642')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor()
    expect(await storage(page)).not.toContain('pst_')
    await personMenu(page).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Sign-in code').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('petstore.people'))).toBeNull()
  })
})

describe('managing people', () => {
  test('a person is renamed, paused, resumed and revoked, and the other device notices without a reload', async () => {
    const { page } = await deviceOf('Hana', { provokes: [401] })
    const owner = await shop.signedIn({ path: '/#/people' })
    await owner.getByRole('button', { name: 'Edit Hana' }).click()
    await owner.getByLabel('Name').fill('Hanna')
    await owner.getByRole('button', { name: 'Save' }).click()
    await personMenu(page).filter({ hasText: 'Hanna' }).waitFor()

    await owner.getByRole('button', { name: 'Pause Hanna' }).click()
    const question = owner.getByRole('dialog', { name: 'Pause Hanna?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await owner.getByRole('button', { name: 'Pause Hanna' }).click()
    await question.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('You were signed out: your access was paused or has ended.').waitFor()
    await owner.getByRole('button', { name: 'Resume Hanna' }).click()
    await owner.getByRole('button', { name: 'Pause Hanna' }).waitFor()
    await page.getByRole('button', { name: 'Hanna' }).click()
    await enterPin(page, '2468')
    await page.getByRole('button', { name: 'One more Biscuit' }).click()
    await expectSoon(() => shop.inStock(1n), 5)

    await owner.getByRole('button', { name: 'Revoke Hanna' }).click()
    await owner.getByRole('button', { name: 'Cancel' }).click()
    await owner.getByRole('button', { name: 'Revoke Hanna' }).click()
    await owner.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('You were signed out').waitFor()
    await expectSoon(() => owner.getByRole('listitem').filter({ hasText: 'Hanna' }).count(), 0)
    await owner.getByRole('button', { name: 'Revoked' }).click()
    await owner.getByRole('listitem').filter({ hasText: 'Hanna' }).waitFor()
    await owner.goto(`${shop.service.address}/#/activity`)
    await owner.locator('.activity-row').filter({ hasText: 'Hanna' }).first().waitFor()
  })

  test('permissions change on the other device without a reload', async () => {
    const { id, page } = await deviceOf('Ida', { permissions: ['orders'] })
    const receive = page.getByRole('link', { name: 'Receive' })
    await expectSoon(() => receive.count(), 0)
    await shop.send('PATCH', `/keys/${id}`, { permissions: ['stock', 'orders'] })
    await receive.waitFor()
    await shop.send('PATCH', `/keys/${id}`, { permissions: [] })
    await receive.waitFor({ state: 'detached' })
  })

  test('nobody raises their own permissions, in the form or past it, and the last manager stays', async () => {
    const { id, page, secret } = await deviceOf('Jan', {
      permissions: ['stock', 'keys'],
      path: '/#/people',
      provokes: [403],
    })
    await page.getByRole('button', { name: 'Edit Jan' }).click()
    expect(await page.getByRole('checkbox', { name: /^Pets/ }).isDisabled()).toBe(true)
    expect(await page.getByRole('checkbox', { name: /^Stock/ }).isDisabled()).toBe(false)
    const raised = await page.evaluate(
      async ([keyId, key]) => {
        const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
        const body = JSON.stringify({ permissions: ['stock', 'pets', 'keys'] })
        return (await fetch(`/v1/keys/${keyId}`, { method: 'PATCH', headers, body })).status
      },
      [id, secret],
    )
    expect(raised).toBe(403)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Revoke enterprise key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.locator('.toast').getByText('nobody gives or takes away more').waitFor()
  })
})
