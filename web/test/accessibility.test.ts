import { describe, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from './support/axe.ts'
import { BROWSER_TEST_MS, signIn, useShop } from './support/shop.ts'

const shop = useShop()

const LAST = 9223372036854775807n
const PHONE = { width: 390, height: 844 }

/** Nobody has to scroll sideways, neither in the document nor in the part of it that scrolls. */
async function fits(page: Page): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const parts = [document.documentElement, ...document.querySelectorAll('main, .card')]
    const wide = parts.find(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth) ?? document.body
    return { scrollWidth: wide.scrollWidth, clientWidth: wide.clientWidth }
  })
  if (scrollWidth > clientWidth)
    throw new Error(`${page.url()} is ${scrollWidth} px wide on ${clientWidth} px`)
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test(
    'axe-core finds nothing serious on any view of the staff page',
    async () => {
      const page = await shop.page({ colorScheme, provokes: [401] })
      await axe(page)
      await page.getByLabel('API key').fill('pst_live_wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page
        .getByRole('alert')
        .getByText(/not valid/)
        .waitFor()
      await axe(page)
      await signIn(page, shop.service.key)
      await page.getByRole('link', { name: 'Biscuit' }).waitFor()
      await axe(page)

      await page.getByRole('grid').focus()
      await page.keyboard.press('Enter')
      await page.getByRole('textbox', { name: 'Quantity of Biscuit' }).waitFor()
      await axe(page)
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
      await axe(page)
      await page.keyboard.press('Escape')

      await shop.service.setQuantity(1n, `{"quantity":${colorScheme === 'light' ? 12 : 13}}`)
      await page.getByRole('link', { name: 'Biscuit' }).click()
      await page.locator('.step-chart__line').waitFor()
      await axe(page)
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.locator('.limit-meter').first().waitFor()
      await axe(page)
    },
    BROWSER_TEST_MS,
  )

  test(
    'every view fits a phone, with the largest figures that there can be, and axe-core finds nothing serious there',
    async () => {
      await shop.service.setQuantity(LAST, '{"quantity":9007199254740991}')
      await shop.service.setQuantity(LAST, '{"quantity":9007199254740990}')
      const page = await shop.signedIn({ colorScheme, viewport: PHONE })
      await page.getByRole('grid').waitFor()
      for (const view of ['/#/stock', `/#/pets/${LAST}`, '/#/overview', '/docs']) {
        await page.goto(shop.service.address + view)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.waitForFunction(() => document.querySelector('.skeleton') === null)
        await fits(page)
        await axe(page)
      }
    },
    BROWSER_TEST_MS,
  )
})
