import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { operatorOf } from '../../../server/test/support/operator.ts'
import { fits, PHONE } from '../support/layout.ts'
import { keyField, personMenu, signIn, useShop } from '../support/shop.ts'
import { rowOf } from '../support/stock-table.ts'

const shop = useShop()

/** What the browser stores as a key, or has the form of one. Other work that it keeps is no secret. */
const stored = (page: Page, place: 'disk' | 'anywhere' = 'anywhere') =>
  page.evaluate((where) => {
    const items = { ...localStorage, ...(where === 'disk' ? {} : sessionStorage) }
    return Object.entries(items).filter(([name, value]) => name.endsWith('-key') || value.includes('pst_'))
  }, place)

test('a key opens the stock and is never written to disk unless the user asks for it', async () => {
  const page = await shop.signedIn({ viewport: { width: 1500, height: 800 } })
  await rowOf(page, 1n).getByText('Biscuit').waitFor()
  await personMenu(page).getByText('enterprise key').waitFor()
  await page.reload()
  await rowOf(page, 1n).waitFor()
  expect(await stored(page, 'disk')).toEqual([])
})

test('the page speaks to the staff, and a key that is entered as a code signs in as a key, and is not shown', async () => {
  const page = await shop.page({ provokes: [401], viewport: PHONE, colorScheme: 'dark' })
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  const command = page.getByText('petstore keys create')
  expect(await command.isVisible()).toBe(false)
  await page.getByText('Trying the demo, or running the service?').click()
  await command.waitFor()
  await page.getByText('The demo has the key pst_demo_enterprise.').waitFor()
  await fits(page)
  const code = page.getByLabel('Sign-in code')
  await code.fill('pst_demo_enterprise')
  expect(await code.getAttribute('type')).toBe('password')
  await page.keyboard.press('Enter')
  await page.getByText('This key is not valid.').waitFor()
  await page.getByRole('button', { name: 'Use a code' }).click()
  await code.fill(` ${shop.service.key} `)
  await page.keyboard.press('Enter')
  await personMenu(page).waitFor()
  expect(await stored(page, 'disk')).toEqual([])
})

test('a key that is not remembered stays in its tab, and signing out of one tab signs out all', async () => {
  const page = await shop.signedIn()
  const next = await page.context().newPage()
  await next.goto(`${shop.service.address}/#/orders`)
  await keyField(next)
  expect(await stored(next)).toEqual([])
  await signIn(next, shop.service.key)
  expect(await stored(next, 'disk')).toEqual([])
  await personMenu(next).click()
  await next.getByRole('button', { name: 'Sign out' }).click()
  for (const tab of [page, next]) {
    await (await keyField(tab)).waitFor()
    expect(await stored(tab)).toEqual([])
  }
  // Tabs of another browser share nothing.
  await shop.signedIn()
  await (await keyField(next)).waitFor()
})

test('a wrong key says so and keeps nothing, and so does one that no key can be', async () => {
  const page = await shop.page({ provokes: [401] })
  const field = await keyField(page)
  await field.fill('pst_live_wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('This key is not valid.').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  expect(await field.inputValue()).toBe('pst_live_wrong')
  expect(await stored(page)).toEqual([])

  await field.fill('two words')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('no spaces').waitFor()
  await field.fill(' ')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Enter your API key.').waitFor()

  await signIn(page, `  ${shop.service.key} `)
  await rowOf(page, 1n).waitFor()
})

test('a remembered key opens every tab, and signing out of one forgets it in all', async () => {
  const page = await shop.page()
  await keyField(page)
  await page.getByLabel('Remember the key').check()
  await signIn(page, shop.service.key)
  const next = await page.context().newPage()
  await next.goto(`${shop.service.address}/#/overview`)
  await personMenu(next).waitFor()

  await personMenu(page).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.locator('input:focus').and(page.getByLabel('Sign-in code')).waitFor()
  await (await keyField(page)).and(page.locator('input:focus')).waitFor()
  for (const tab of [page, next]) {
    await (await keyField(tab)).waitFor()
    expect(await stored(tab)).toEqual([])
    expect(await tab.locator('body').innerText()).not.toContain('Biscuit')
  }
  await page.reload()
  await (await keyField(page)).waitFor()
})

test('what is stored but cannot be a key is forgotten, and the page asks for one', async () => {
  const page = await shop.page()
  for (const noKey of ['two words', '\u201ccurly\u201d']) {
    await page.evaluate((text) => sessionStorage.setItem('petstore.api-key', text), noKey)
    await page.reload()
    await (await keyField(page)).waitFor()
    expect(await stored(page)).toEqual([])
  }
})

test('a key that is revoked ends the session and says why', async () => {
  const { id, secret } = await shop.service.createKey('enterprise')
  const page = await shop.signedIn({ key: secret, provokes: [401] })
  await rowOf(page, 1n).waitFor()
  await operatorOf(shop.service.store).revokeKey(id, { at: Date.now(), actor: 'test' })
  // By itself, or by what is done next: whichever comes first.
  const change = page.getByRole('button', { name: 'One more Biscuit' }).click()
  await Promise.all([
    page.getByText('your access was paused or has ended').waitFor(),
    change.catch(() => 'the session was over already'),
  ])
  expect(await stored(page)).toEqual([])
  expect(await page.getByRole('table', { name: 'Stock' }).count()).toBe(0)
})

test('the theme can be chosen, and stays chosen', async () => {
  const page = await shop.page({ colorScheme: 'light' })
  const canvas = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  const light = await canvas()
  const change = page.getByRole('button', { name: /^Theme/ })
  await change.click()
  expect(await canvas()).toBe(light)
  await change.click()
  const dark = await canvas()
  expect(dark).not.toBe(light)
  await page.reload()
  await page.getByRole('button', { name: 'Theme: Dark' }).waitFor()
  expect(await canvas()).toBe(dark)
})

test('the page says Live only while it is told of changes', async () => {
  const page = await shop.page()
  let letThrough = () => {}
  const held = new Promise<void>((resolve) => {
    letThrough = resolve
  })
  await page.route('**/v1/inventory/events', async (route) => {
    await held
    await route.continue()
  })
  await signIn(page, shop.service.key)
  await page.getByRole('link', { name: 'Biscuit' }).waitFor()
  await page.getByText('Connecting', { exact: true }).waitFor()
  letThrough()
  await page.getByText('Live', { exact: true }).waitFor()
})
