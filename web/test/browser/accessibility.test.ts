import { expect, test } from 'bun:test'
import { VIEWS } from '../../src/staff-page/shell/views.ts'
import { axe, axeInBothThemes } from '../support/axe.ts'
import { fits, PHONE, resize } from '../support/layout.ts'
import { keyField, signIn, useShop } from '../support/shop.ts'
import { goToRow } from '../support/stock-table.ts'

const shop = useShop()

const LAST = 9223372036854775807n
const DESK = { width: 1_280, height: 800 }
/** All views of the navigation, one pet, and the docs. A new view is covered as soon as it is in VIEWS. */
const PATHS = [...VIEWS.map(({ name }) => `/#/${name}`), `/#/pets/${LAST}`, '/docs']

test('axe-core finds nothing serious in the sign-in form, the dialogs and the editors of the stock', async () => {
  const page = await shop.page({ provokes: [401] })
  await (await keyField(page)).fill('pst_live_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page
    .getByRole('alert')
    .getByText(/not valid/)
    .waitFor()
  await axeInBothThemes(page)
  await signIn(page, shop.service.key)
  await page.getByRole('link', { name: 'Biscuit' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await axe(page)
  await page.keyboard.press('Escape')

  // A toast, the bar for several rows with an error, and an editor.
  await goToRow(page, 1n)
  await page.keyboard.type('12')
  await page.keyboard.press('Enter')
  await page.locator('.toast').waitFor()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Apply to 1' }).click()
  await page.getByText('Enter a whole number of 0 or more.').waitFor()
  await page
    .getByRole('textbox', { name: /^Quantity of/ })
    .first()
    .focus()
  await axeInBothThemes(page)
})

test('each view has one heading of level 1, fits a phone with the largest figures, and links to views only; axe-core finds nothing serious', async () => {
  await shop.setElsewhere(LAST, 9007199254740991)
  await shop.setElsewhere(LAST, 9007199254740990)
  const page = await shop.signedIn()
  await page.getByRole('table', { name: 'Stock' }).waitFor()
  const known = new Set(VIEWS.map(({ name }) => name))
  const unknown = new Set<string>()
  const edges = new Set<string>()
  for (const path of PATHS) {
    await resize(page, DESK)
    await page.goto(shop.service.address + path)
    await page.waitForFunction(() => document.querySelectorAll('h1').length === 1)
    await page.waitForFunction(() => document.querySelector('.skeleton, .shell__loading') === null)
    await axeInBothThemes(page)
    await resize(page, PHONE)
    await fits(page)
    if (path === '/docs') continue
    await resize(page, { width: 1_600, height: 900 })
    const box = await page.locator('main > :has(h1)').first().boundingBox()
    edges.add(`${box?.x} ${box?.width}`)
    for (const link of await page.locator('a[href^="#/"]').all()) {
      const name = /^#\/([a-z-]+)/.exec((await link.getAttribute('href')) ?? '')?.[1] ?? ''
      if (!known.has(name)) unknown.add(`${path} links to ${name}`)
    }
  }
  expect([...unknown]).toEqual([])
  // All views begin at the same edge and have the same width.
  expect([...edges]).toHaveLength(1)
})
