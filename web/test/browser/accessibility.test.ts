import { afterEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { VIEWS } from '../../src/staff-page/shell/views.ts'
import { axe, axeInBothThemes } from '../support/axe.ts'
import { keyField, signIn, useShop } from '../support/shop.ts'
import { goToRow, rowOf } from '../support/stock-table.ts'

let isBroken = false

const shop = useShop({
  wrapStore: (store) => ({
    ...store,
    searchPets: async (...request) => {
      if (isBroken) throw new TypeError('a bug, as far as the service can tell')
      return store.searchPets(...request)
    },
  }),
})

afterEach(() => {
  isBroken = false
})

/** axe-core looks at every element, several times in each of these. */
const MANY_CHECKS_MS = 300_000
const LAST = 9223372036854775807n
const PHONE = { width: 390, height: 844 }
/** All views of the navigation, one pet, and the docs. A new view is covered as soon as it is in VIEWS. */
const PATHS = [...VIEWS.map(({ name }) => `/#/${name}`), `/#/pets/${LAST}`, '/docs']

/** Neither the document nor the part of it that scrolls is wider than the screen. */
async function fits(page: Page): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const parts = [document.documentElement, ...document.querySelectorAll('main, .card')]
    const wide = parts.find(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth) ?? document.body
    return { scrollWidth: wide.scrollWidth, clientWidth: wide.clientWidth }
  })
  if (scrollWidth > clientWidth)
    throw new Error(`${page.url()} is ${scrollWidth} px wide on ${clientWidth} px`)
}

test(
  'axe-core finds nothing serious on any view of the staff page',
  async () => {
    const page = await shop.page({ provokes: [401] })
    await axeInBothThemes(page)
    await (await keyField(page)).fill('pst_live_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page
      .getByRole('alert')
      .getByText(/not valid/)
      .waitFor()
    await axeInBothThemes(page)
    await signIn(page, shop.service.key)
    await page.getByRole('link', { name: 'Biscuit' }).waitFor()
    await axeInBothThemes(page)

    await page.getByRole('grid').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Quantity of Biscuit' }).waitFor()
    await axeInBothThemes(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await axeInBothThemes(page)
    await page.keyboard.press('Escape')

    await goToRow(page, 1n)
    await page.keyboard.type('12')
    await page.keyboard.press('Enter')
    await page.locator('.toast').waitFor()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Apply to 1' }).click()
    await page.getByText('Enter a whole number of 0 or more.').waitFor()
    await axeInBothThemes(page)
    await page.getByLabel('Amount').fill('20')
    await page.keyboard.press('Enter')
    await page.locator('.bulk-bar').getByText('1 changed').waitFor()
    await page.getByRole('searchbox').fill('no such pet')
    await page.getByText('Nothing found').waitFor()
    await axeInBothThemes(page)

    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('link', { name: 'Biscuit' }).click()
    await page.locator('.step-chart__line').waitFor()
    await axeInBothThemes(page)
    await page.getByRole('link', { name: 'Orders' }).click()
    await page.getByRole('button', { name: /^Complete order/ }).click()
    await page.getByText('Take 1 out of the stock?').waitFor()
    await axeInBothThemes(page)
    await page.getByRole('button', { name: 'Cancelled' }).click()
    await page.getByText('No cancelled orders').waitFor()
    await axeInBothThemes(page)
  },
  MANY_CHECKS_MS,
)

test(
  'axe-core finds nothing serious while something is wrong',
  async () => {
    const { service } = shop
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 60, perDay: 1_000 } })
    const provokes = [412, 429, 500, 503, 'no connection'] as const
    const page = await shop.signedIn({ key: secret, provokes })
    await page.getByText('Live', { exact: true }).waitFor()
    await goToRow(page, 2n)
    await page.keyboard.press('Enter')
    await service.setQuantity(2n, `{"quantity":31}`)
    await rowOf(page, 2n).getByRole('textbox').fill('30')
    await page.keyboard.press('Enter')
    await rowOf(page, 2n)
      .getByText(/^Somebody set/)
      .waitFor()
    await service.run('ALTER TABLE log RENAME TO away')
    await goToRow(page, 3n)
    await page.keyboard.press('+')
    await page.getByText('The service cannot do its work at the moment').waitFor()
    await axeInBothThemes(page)
    await service.run('ALTER TABLE away RENAME TO log')
    await rowOf(page, 3n).getByText('Saving').waitFor({ state: 'detached' })

    await page.context().setOffline(true)
    await page.keyboard.press('+')
    await page.getByText('Connection lost.').waitFor()
    await axeInBothThemes(page)
    await page.context().setOffline(false)
    await page.getByText('Connection lost.').waitFor({ state: 'detached' })
    await rowOf(page, 3n).getByText('Saving').waitFor({ state: 'detached' })

    for (let status = 200; status === 200; ) {
      status = (await service.call('GET', '/inventory', { key: secret })).status
    }
    await page.keyboard.press('+')
    await page.getByText('The limit of this key is reached.').waitFor()
    await axeInBothThemes(page)

    isBroken = true
    await service.setQuantity(LAST, `{"quantity":1}`)
    const failing = await shop.signedIn({ provokes })
    await failing.getByText('The stock could not be loaded').waitFor()
    await axeInBothThemes(failing)
  },
  MANY_CHECKS_MS,
)

test(
  'every view fits a phone, with the largest figures that there can be, and axe-core finds nothing serious there',
  async () => {
    await shop.service.setQuantity(LAST, '{"quantity":9007199254740991}')
    await shop.service.setQuantity(LAST, '{"quantity":9007199254740990}')
    const page = await shop.signedIn({ viewport: PHONE })
    await page.getByRole('grid').waitFor()
    for (const path of PATHS) {
      await page.goto(shop.service.address + path)
      await page.locator('h1').first().waitFor({ state: 'attached' })
      await page.waitForFunction(() => document.querySelector('.skeleton, .shell__loading') === null)
      await fits(page)
      await axe(page)
    }
  },
  MANY_CHECKS_MS,
)

test(
  'every view has one heading of level 1 at a desk, axe-core finds nothing serious, and links lead to views',
  async () => {
    const page = await shop.signedIn()
    const known = new Set(VIEWS.map(({ name }) => name))
    const unknown = new Set<string>()
    for (const path of PATHS) {
      await page.goto(shop.service.address + path)
      await page.waitForFunction(() => document.querySelectorAll('h1').length === 1)
      await page.waitForFunction(() => document.querySelector('.skeleton, .shell__loading') === null)
      await axeInBothThemes(page)
      if (path === '/docs') continue
      for (const link of await page.locator('a[href^="#/"]').all()) {
        const name = /^#\/([a-z-]+)/.exec((await link.getAttribute('href')) ?? '')?.[1] ?? ''
        if (!known.has(name)) unknown.add(`${path} links to ${name}`)
      }
    }
    expect([...unknown]).toEqual([])
  },
  MANY_CHECKS_MS,
)
