/**
 * Takes screenshots of a demo store with some weeks of history. `npm run screenshots` takes the four of the README;
 * `npm run screenshots -- <folder>` takes every view, light and dark, at three widths, into that folder.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM_FLAGS, chromiumPath } from '../../client/test/support/chromium.ts'
import { VIEWS } from '../src/staff-page/shell/views.ts'
import { type LivelyShop, startLivelyShop } from './lively-shop.ts'

const README_FOLDER = join(import.meta.dir, '../../docs/screenshots')
const README_PICTURES: ReadonlySet<string> = new Set([
  'stock-desktop-light',
  'overview-desktop-dark',
  'count-desktop-light',
  'pet-desktop-dark',
])

const PATHS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(VIEWS.map(({ name }) => [name, `/#/${name}`])),
  pet: '/#/pets/16',
  docs: '/docs',
  'docs-store': '/docs/store',
}

/** Brings a view to a state in which there is something to see. */
const PREPARE: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  receive: receiveSome,
  count: countSome,
}

const SCREENS = {
  desktop: { viewport: { width: 1280, height: 800 }, isMobile: false, hasTouch: false },
  tablet: { viewport: { width: 820, height: 1180 }, isMobile: true, hasTouch: true },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const
type Screen = keyof typeof SCREENS

const folder = process.argv[2]
const target = folder ?? README_FOLDER
const isWanted = (picture: string) => folder !== undefined || README_PICTURES.has(picture)

mkdirSync(target, { recursive: true })
const shop = await startLivelyShop()
const browser = await chromium.launch({ executablePath: await chromiumPath(), args: CHROMIUM_FLAGS })
try {
  for (const screen of Object.keys(SCREENS) as Screen[]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const views = Object.keys(PATHS).filter((view) => isWanted(`${view}-${screen}-${colorScheme}`))
      if (views.length === 0) continue
      const context = await browser.newContext({
        ...SCREENS[screen],
        colorScheme,
        deviceScaleFactor: screen === 'phone' ? 2 : 1,
        reducedMotion: 'reduce',
        locale: 'en-GB',
      })
      const page = await context.newPage()
      await signIn(page, shop)
      for (const view of views) {
        await show(page, shop, view)
        await page.mouse.move(0, 0)
        const path = join(target, `${view}-${screen}-${colorScheme}.png`)
        await page.screenshot({ path })
        console.log(path)
      }
      await context.close()
    }
  }
} finally {
  await browser.close()
  await shop.stop()
}

async function signIn(page: Page, { address, apiKey }: LivelyShop): Promise<void> {
  await page.goto(address)
  await page.getByRole('button', { name: 'Use an API key' }).click()
  await page.getByLabel('API key').fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Signed in as' }).waitFor()
}

async function show(page: Page, { address }: LivelyShop, view: string): Promise<void> {
  await page.goto(address + PATHS[view])
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await PREPARE[view]?.(page)
  await page.waitForFunction(() => document.querySelector('.skeleton, .shell__loading') === null)
}

/** A delivery that is half scanned; the demo's barcodes. */
async function receiveSome(page: Page): Promise<void> {
  await page.getByPlaceholder('Barcode, name or id').waitFor()
  for (const [barcode, amount] of [
    ['2000000000015', '3'],
    ['2000000000169', '120'],
    ['2000000000220', '12'],
    ['2000000000077', '2'],
    ['2000000000121', ''],
  ] as const) {
    await page.getByRole('combobox').fill(barcode)
    await page.keyboard.press('Enter')
    await page.locator('.receive__amount input').waitFor()
    if (amount === '') continue
    await page.keyboard.type(amount)
    await page.keyboard.press('Enter')
  }
}

/** A count that has found some differences. */
async function countSome(page: Page): Promise<void> {
  await page.locator('button:not([aria-disabled])', { hasText: 'Begin' }).click()
  await page.locator('.count__field').first().focus()
  for (const counted of ['1', '5', '17', '', '3', '21']) {
    await page.keyboard.type(counted)
    await page.keyboard.press('Enter')
  }
  await page.locator('main').evaluate((main) => main.scrollTo(0, 0))
}
