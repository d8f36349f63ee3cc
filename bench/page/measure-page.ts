import type { Browser, CDPSession, Page } from 'playwright-core'
import { nameAt } from '../dataset.ts'
import type { RunningTarget } from '../target.ts'
import {
  type Arrival,
  arrivalAfterSignIn,
  resultAfterInput,
  type Scrolling,
  scrollThrough,
} from './in-page.ts'

/** Of one letter and of many, found everywhere, in some places and nowhere. */
const SEARCHES = ['maine coon', 'gold', '99', 'e', 'zebra finch 777', 'no such pet'] as const
const SIGN_INS = 3
const FRAMES = 600
const CHANGES = 1_000
const AT_A_TIME = 16

export interface Keystroke {
  readonly query: string
  readonly rows: number
  readonly ms: number
}

export interface PageMeasures {
  readonly arrivals: readonly Arrival[]
  readonly keystrokes: readonly Keystroke[]
  readonly scrolling: Scrolling
  readonly heapMb: { readonly loaded: number; readonly scrolled: number; readonly changed: number }
  readonly changes: number
  /** From the key that goes there until it says that it was saved. */
  readonly lastRowMs: number
}

interface Setting {
  readonly browser: Browser
  readonly store: RunningTarget
  readonly pets: number
  readonly tell: (what: string) => void
}

export async function measurePage({ browser, store, pets, tell }: Setting): Promise<PageMeasures> {
  const arrivals: Arrival[] = []
  for (let count = 1; count < SIGN_INS; count++) {
    tell(`sign in, ${count} of ${SIGN_INS}`)
    const { page, arrival } = await signIn(browser, store, pets)
    arrivals.push(arrival)
    await page.context().close()
  }
  tell(`sign in, ${SIGN_INS} of ${SIGN_INS}`)
  const { page, arrival } = await signIn(browser, store, pets)
  arrivals.push(arrival)
  const debug = await page.context().newCDPSession(page)
  const loaded = await heapMb(debug)
  tell('search')
  const keystrokes = await typeSearches(page, pets)
  tell('scroll')
  const scrolling = await page.evaluate(scrollThrough, FRAMES)
  await page.locator(`#pet-${pets}`).waitFor()
  const scrolled = await heapMb(debug)
  tell(`${CHANGES} live changes`)
  await changeMany(page, store, pets)
  const changed = await heapMb(debug)
  tell('edit the last row')
  const lastRowMs = await editLastRow(page, pets)
  const heap = { loaded, scrolled, changed }
  return { arrivals, keystrokes, scrolling, heapMb: heap, changes: CHANGES, lastRowMs }
}

async function signIn(
  browser: Browser,
  store: RunningTarget,
  pets: number,
): Promise<{ page: Page; arrival: Arrival }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(store.url)
  await page.getByRole('button', { name: 'Use an API key' }).click()
  await page.getByLabel('API key').fill(store.secrets.unlimited)
  const arriving = page.evaluate(arrivalAfterSignIn, pets)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return { page, arrival: await arriving }
}

async function typeSearches(page: Page, pets: number): Promise<readonly Keystroke[]> {
  const texts = Array.from({ length: pets }, (_, index) => `${nameAt(index).toLowerCase()}\n${index + 1}`)
  const countOf = (query: string) => {
    const terms = query.split(' ').filter((term) => term !== '')
    return texts.filter((text) => terms.every((term) => text.includes(term))).length
  }
  const field = page.getByRole('searchbox')
  const keystrokes: Keystroke[] = []
  let before = pets
  const press = async (key: string, query: string) => {
    const rows = countOf(query)
    // Where as many are found as before, nothing tells the new result from the old one.
    if (rows === before) return field.press(key)
    before = rows
    const result = page.evaluate(resultAfterInput, rows)
    await field.press(key)
    keystrokes.push({ query, rows, ms: await result })
  }
  for (const search of SEARCHES) {
    for (let length = 1; length <= search.length; length++) {
      const query = search.slice(0, length)
      await press(query.at(-1) === ' ' ? 'Space' : (query.at(-1) ?? ''), query)
    }
    await field.press('Control+a')
    await press('Delete', '')
  }
  return keystrokes
}

/** As others would, spread over the store; the last of them is in sight. */
async function changeMany(page: Page, { url, secrets }: RunningTarget, pets: number): Promise<void> {
  const set = async (petId: number, quantity: number) => {
    const response = await fetch(`${url}/v1/inventory/${petId}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${secrets.unlimited}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ quantity }),
    })
    if (!response.ok)
      throw new Error(`a change was answered with ${response.status}: ${await response.text()}`)
  }
  for (let done = 0; done < CHANGES - 1; done += AT_A_TIME) {
    const count = Math.min(AT_A_TIME, CHANGES - 1 - done)
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        set((((done + index) * 97) % (pets - 1)) + 1, done + index),
      ),
    )
  }
  await set(pets, 4321)
  await page.locator(`#pet-${pets}`, { hasText: /4,?321/ }).waitFor()
}

/** By keys alone, from the first row. */
async function editLastRow(page: Page, pets: number): Promise<number> {
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  const start = performance.now()
  await page.keyboard.press('End')
  await page.keyboard.type('77')
  await page.keyboard.press('Enter')
  await page.locator(`#pet-${pets}`).getByText('Saved').waitFor()
  return performance.now() - start
}

/** What is in use once all that is unused is gone. */
async function heapMb(debug: CDPSession): Promise<number> {
  await debug.send('HeapProfiler.collectGarbage')
  const { usedSize } = await debug.send('Runtime.getHeapUsage')
  return usedSize / 1024 / 1024
}
