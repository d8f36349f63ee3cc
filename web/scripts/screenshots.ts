/** Takes a picture of every view, light and dark, on a desk and on a phone. `npm run screenshots` runs it. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM_FLAGS, chromiumPath } from '../../client/test/support/chromium.ts'
import { type LivelyShop, startLivelyShop } from './lively-shop.ts'

const FOLDER = join(import.meta.dir, '../../docs/screenshots')
/** These two are in the README, and so in git; all others go to a folder that is not. */
const KEPT: ReadonlySet<string> = new Set(['stock-desktop-light', 'overview-desktop-dark'])

/** Where each view is, and something that no other one has. */
const VIEWS = {
  stock: { path: '/#/stock', ownPart: '.stock-row__name' },
  pet: { path: '/#/pets/16', ownPart: '.step-chart__line' },
  overview: { path: '/#/overview', ownPart: '.limit-meter' },
  docs: { path: '/docs', ownPart: '.docs-main h1' },
} as const
type View = keyof typeof VIEWS

const SCREENS = {
  desktop: { viewport: { width: 1440, height: 900 }, isMobile: false, hasTouch: false },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const
type Screen = keyof typeof SCREENS

const shop = await startLivelyShop()
const browser = await chromium.launch({ executablePath: await chromiumPath(), args: CHROMIUM_FLAGS })
try {
  for (const screen of Object.keys(SCREENS) as Screen[]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        ...SCREENS[screen],
        colorScheme,
        deviceScaleFactor: screen === 'phone' ? 2 : 1,
        reducedMotion: 'reduce',
        locale: 'en-GB',
      })
      const page = await context.newPage()
      await signIn(page, shop)
      for (const view of Object.keys(VIEWS) as View[]) {
        await show(page, shop, view)
        const path = pathOf(`${view}-${screen}-${colorScheme}`)
        await page.mouse.move(0, 0)
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
  await page.getByLabel('API key').fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

async function show(page: Page, { address }: LivelyShop, view: View): Promise<void> {
  const { path, ownPart } = VIEWS[view]
  await page.goto(address + path)
  await page.locator(ownPart).first().waitFor()
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
}

function pathOf(name: string): string {
  const path = join(FOLDER, KEPT.has(name) ? '' : 'all', `${name}.png`)
  mkdirSync(dirname(path), { recursive: true })
  return path
}
