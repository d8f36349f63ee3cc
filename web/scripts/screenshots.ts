/** Takes a picture of every view, light and dark, on a desk and on a phone. `npm run screenshots` runs it. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM_FLAGS, chromiumPath } from '../../client/test/support/chromium.ts'
import { type LivelyShop, startLivelyShop } from './lively-shop.ts'

const FOLDER = join(import.meta.dir, '../../docs/screenshots')
/** These are in the README, and so in git; all others go to a folder that is not. */
const KEPT: ReadonlySet<string> = new Set([
  'stock-desktop-light',
  'overview-desktop-dark',
  'count-desktop-light',
  'pet-desktop-dark',
])

interface View {
  readonly path: string
  /** Something that no other one has. */
  readonly ownPart: string
  /** Brings it to where there is something to see. */
  readonly prepare?: (page: Page) => Promise<void>
}

const VIEWS = {
  stock: { path: '/#/stock', ownPart: '.stock-row__name' },
  pet: { path: '/#/pets/16', ownPart: '.step-chart__line' },
  receive: { path: '/#/receive', ownPart: '.receive__entry', prepare: receiveSome },
  count: { path: '/#/count', ownPart: '.count', prepare: countSome },
  orders: { path: '/#/orders', ownPart: '.order' },
  'low-stock': { path: '/#/low-stock', ownPart: '.low-row' },
  pets: { path: '/#/pets', ownPart: '.pet-row' },
  import: { path: '/#/import', ownPart: '.import__choose' },
  activity: { path: '/#/activity', ownPart: '.activity-row' },
  overview: { path: '/#/overview', ownPart: '.limit-meter' },
  webhooks: { path: '/#/webhooks', ownPart: '.webhook' },
  docs: { path: '/docs', ownPart: '.docs-main h1' },
} as const satisfies Record<string, View>
type ViewName = keyof typeof VIEWS

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
      for (const view of Object.keys(VIEWS) as ViewName[]) {
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
  await page.getByRole('button', { name: 'Use an API key' }).click()
  await page.getByLabel('API key').fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Signed in as' }).waitFor()
}

async function show(page: Page, { address }: LivelyShop, view: ViewName): Promise<void> {
  const { path, ownPart, prepare }: View = VIEWS[view]
  await page.goto(address + path)
  await page.locator(ownPart).first().waitFor()
  await prepare?.(page)
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
}

function pathOf(name: string): string {
  const path = join(FOLDER, KEPT.has(name) ? '' : 'all', `${name}.png`)
  mkdirSync(dirname(path), { recursive: true })
  return path
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
  await page.locator('button:enabled', { hasText: 'Begin' }).click()
  await page.locator('.count__field').first().focus()
  for (const counted of ['1', '5', '17', '', '3', '21']) {
    await page.keyboard.type(counted)
    await page.keyboard.press('Enter')
  }
  await page.locator('main').evaluate((main) => main.scrollTo(0, 0))
}
