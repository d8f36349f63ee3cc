import { afterAll, afterEach, beforeAll, setDefaultTimeout } from 'bun:test'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { CHROMIUM_FLAGS, headlessShellPath } from '../../../client/test/support/chromium.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import { buildPages } from './built-pages.ts'
import { PageProblems, type Provoked } from './page-problems.ts'

type StartOptions = Parameters<typeof TestService.start>[0]

export interface PageOptions {
  /** `/` by default; `/#/overview`, `/docs`. */
  readonly path?: string
  readonly colorScheme?: 'light' | 'dark'
  readonly viewport?: { readonly width: number; readonly height: number }
  /** It has fingers instead of a mouse. */
  readonly isTouch?: boolean
  /** The test controls its clock, which lasts as long as the context. */
  readonly setsClock?: boolean
  /** Failing requests that the test brings about; any other one fails it. */
  readonly provokes?: readonly Provoked[]
  /** The key with which somebody has signed in already. */
  readonly storedKey?: string
}

interface OpenPage {
  readonly page: Page
  readonly problems: PageProblems
  /** Whether the page can be used again. */
  readonly isPlain: boolean
}

/** Runs in the page. Leaves nothing of an earlier test, and stores the key. */
async function beginStorage(key: string | undefined): Promise<void> {
  localStorage.clear()
  sessionStorage.clear()
  for (const { name = '' } of await indexedDB.databases()) {
    const deletion = indexedDB.deleteDatabase(name)
    await new Promise((resolve) => deletion.addEventListener('success', resolve))
  }
  if (key !== undefined) sessionStorage.setItem('petstore.api-key', key)
}

const DESKTOP = { width: 1280, height: 800 }
/** The first run on a machine installs Chromium. */
const START_WITHIN_MS = 600_000
/** Shorter than a test may take, so that the message names what was waited for. */
export const WAIT_WITHIN_MS = 30_000

export const JSON_HEADERS = { 'Content-Type': 'application/json' }

type Answered = Readonly<Record<string, unknown>>

/** A test that takes longer hangs: a busy machine needs its time. */
const BROWSER_TEST_MS = 300_000

/** All test files of a worker share it. It ends with the worker's process. */
let browserOfWorker: Promise<Browser> | undefined

/** The real service with the built pages, for a whole test file, and the headless Chromium that shows them. */
export class Shop {
  service!: TestService
  #browser: Browser | undefined
  readonly #open: OpenPage[] = []
  /** Pages of earlier tests. Using one again takes a third of the time of a new context. */
  readonly #idle: Page[] = []

  /** A page in a context of its own, as on another machine: it shares no storage with any other. */
  async page(options: PageOptions = {}): Promise<Page> {
    const { path = '/', colorScheme = 'light', viewport = DESKTOP, provokes = [], storedKey } = options
    const isPlain = options.isTouch !== true && options.setsClock !== true
    const page = (isPlain ? this.#idle.pop() : undefined) ?? (await this.#newPage(options.isTouch === true))
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, media: null })
    const { address } = this.service
    const problems = new PageProblems(address, provokes)
    problems.watch(page)
    page.context().on('page', (tab) => problems.watch(tab))
    this.#open.push({ page, problems, isPlain })
    await page.goto(`${address}/healthz`)
    await page.evaluate(beginStorage, storedKey)
    await page.goto(address + path)
    return page
  }

  async #newPage(isTouch: boolean): Promise<Page> {
    if (this.#browser === undefined)
      throw new Error('the browser is not started: call useShop in the test file')
    const context = await this.#browser.newContext({
      hasTouch: isTouch,
      isMobile: isTouch,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      acceptDownloads: true,
    })
    context.setDefaultTimeout(WAIT_WITHIN_MS)
    return context.newPage()
  }

  /** A page on which somebody has signed in, with the roomy key unless another is given. */
  async signedIn(options: PageOptions & { readonly key?: string } = {}): Promise<Page> {
    const page = await this.page({ ...options, storedKey: options.key ?? this.service.key })
    await personMenu(page).waitFor()
    return page
  }

  /** What the service says, past every page. */
  readonly inStock = async (petId: bigint): Promise<number> =>
    (await this.service.call('GET', `/inventory/${petId}`)).item.quantity

  /** Calls the service past every page. Throws if it refuses the call. */
  async send(method: string, path: string, body?: object, key = this.service.key): Promise<Answered> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: JSON_HEADERS }
    const answer = await this.service.call(method, path, { ...sent, key })
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.text === '' ? {} : (answer.json as Answered)
  }

  /** Somebody else changes it. */
  async setElsewhere(petId: bigint, quantity: number): Promise<void> {
    await this.send('PATCH', `/inventory/${petId}`, { quantity })
  }

  async start(options: StartOptions): Promise<void> {
    await buildPages()
    this.service = await TestService.start({ realTime: true, ...options })
    browserOfWorker ??= headlessShellPath().then((executablePath) =>
      chromium.launch({ executablePath, args: CHROMIUM_FLAGS }),
    )
    this.#browser = await browserOfWorker
  }

  /** Closes every page, and throws where one of them did what no page may do. */
  async closePages(): Promise<void> {
    const closing = this.#open.splice(0)
    await Promise.all(closing.map((open) => this.#close(open)))
    for (const { problems } of closing) problems.check()
  }

  async #close({ page, isPlain }: OpenPage): Promise<void> {
    const context = page.context()
    if (!isPlain || page.isClosed()) return context.close()
    context.removeAllListeners('page')
    await Promise.all(context.pages().map((tab) => (tab === page ? undefined : tab.close())))
    for (const event of ['request', 'response', 'console', 'pageerror', 'crash'])
      page.removeAllListeners(event)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.goto('about:blank')
    await context.setOffline(false)
    await context.clearPermissions()
    this.#idle.push(page)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#idle.map((page) => page.context().close()))
    await this.service?.stop()
  }
}

/** To be called once in a test file. Pages are closed after each test; the service goes on with what is in it. */
export function useShop(options: StartOptions = {}): Shop {
  setDefaultTimeout(BROWSER_TEST_MS)
  const shop = new Shop()
  beforeAll(() => shop.start(options), START_WITHIN_MS)
  afterEach(() => shop.closePages(), BROWSER_TEST_MS)
  afterAll(() => shop.stop(), BROWSER_TEST_MS)
  return shop
}

/** The field for a key. It replaces the field for a code. */
export async function keyField(page: Page): Promise<Locator> {
  const field = page.getByLabel('API key')
  const switchToKey = page.getByRole('button', { name: 'Use an API key' })
  await field.or(switchToKey).waitFor()
  if (await switchToKey.isVisible()) await switchToKey.click()
  return field
}

/** The menu of the person who is signed in. */
export function personMenu(page: Page): Locator {
  return page.getByRole('button', { name: 'Signed in as' })
}

/** Fills in the form, and waits until the key was accepted. */
export async function signIn(page: Page, key: string): Promise<void> {
  await (await keyField(page)).fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await personMenu(page).waitFor()
}

/** Whether the browser would let the page go without a question. */
export function mayLeave(page: Page): Promise<boolean> {
  return page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))
}
