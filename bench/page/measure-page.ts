import type { Browser, CDPSession, Page } from 'playwright-core'
import { nameAt } from '../dataset.ts'
import type { RunningTarget } from '../target.ts'
import { longestTask, paintedAfter, recordLongTasks, scrollOn } from './in-page.ts'

const SIGN_INS = 3
const SCROLLED_PAGES = 10
const CHANGES = 1_000
const AT_A_TIME = 16

export interface PageMeasures {
  /** From the press of the button until rows are painted, for each sign-in. */
  readonly firstRowsMs: readonly number[]
  readonly searchMs: number
  readonly sortMs: number
  readonly filterMs: number
  readonly longestTaskMs: number
  readonly mostElements: number
  readonly heapMb: { readonly loaded: number; readonly atEnd: number }
  readonly changes: number
}

interface Setting {
  readonly browser: Browser
  readonly store: RunningTarget
  readonly pets: number
  readonly log: (what: string) => void
}

export async function measurePage({ browser, store, pets, log }: Setting): Promise<PageMeasures> {
  await waitForSearch(store)
  const firstRowsMs: number[] = []
  for (let count = 1; count < SIGN_INS; count++) {
    log(`sign in, ${count} of ${SIGN_INS}`)
    const { page, rowsMs } = await signIn(browser, store)
    firstRowsMs.push(rowsMs)
    await page.context().close()
  }
  log(`sign in, ${SIGN_INS} of ${SIGN_INS}`)
  const { page, rowsMs } = await signIn(browser, store)
  firstRowsMs.push(rowsMs)
  await page
    .locator('.stock-view__line')
    .getByText(/^(Showing the first|[\d,]+ pets)/)
    .waitFor()
  const debug = await page.context().newCDPSession(page)
  const loaded = await heapMb(debug)

  log('search, sort, filter')
  const field = page.getByRole('searchbox')
  const last = nameAt(pets - 1)
  const search = page.evaluate(paintedAfter, { event: 'input', firstRow: String(pets) } as const)
  await field.fill(String(pets))
  const searchMs = await search
  await field.fill('')
  await page.locator('#pet-1').waitFor()
  const sort = page.evaluate(paintedAfter, { event: 'click', firstRow: String(pets) } as const)
  await page.getByRole('columnheader', { name: 'ID' }).getByRole('button').click()
  const sortMs = await sort
  await page.getByRole('columnheader', { name: 'ID' }).getByRole('button').click()
  await page.locator('#pet-1').waitFor()
  const filter = page.evaluate(paintedAfter, { event: 'click', firstRow: 'sold' } as const)
  await page.getByRole('button', { name: 'Sold' }).click()
  const filterMs = await filter
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.locator('#pet-1').waitFor()

  log(`scroll, and ${CHANGES} changes by others`)
  await field.fill(last.split(' ')[0] ?? '')
  await page.getByText(/^Showing the first|found$|^[\d,]+ of/).waitFor()
  const mostElements = await page.evaluate(scrollOn, SCROLLED_PAGES)
  await field.fill('')
  await page.locator('#pet-1').waitFor()
  await changeMany(page, store, pets)
  const atEnd = await heapMb(debug)
  const longestTaskMs = await page.evaluate(longestTask)
  return {
    firstRowsMs,
    searchMs,
    sortMs,
    filterMs,
    longestTaskMs,
    mostElements,
    heapMb: { loaded, atEnd },
    changes: CHANGES,
  }
}

/** A new service loads its search index first. */
async function waitForSearch({ url, secrets }: RunningTarget): Promise<void> {
  const headers = { Authorization: `Bearer ${secrets.unlimited}` }
  const address = `${url}/v1/inventory/search?limit=1`
  while (!(await fetch(address, { headers })).ok) await Bun.sleep(100)
}

async function signIn(browser: Browser, store: RunningTarget): Promise<{ page: Page; rowsMs: number }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript(recordLongTasks)
  await page.goto(store.url)
  await page.getByRole('button', { name: 'Use an API key' }).click()
  await page.getByLabel('API key').fill(store.secrets.unlimited)
  const painted = page.evaluate(paintedAfter, { event: 'submit', firstRow: '1' } as const)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return { page, rowsMs: await painted }
}

/** Changes as others would make them, spread over the store; the last one is visible. */
async function changeMany(page: Page, { url, secrets }: RunningTarget, pets: number): Promise<void> {
  const set = async (petId: number, quantity: number) => {
    const response = await fetch(`${url}/v1/inventory/${petId}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${secrets.unlimited}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ quantity }),
    })
    if (!response.ok)
      throw new Error(`a change got the response ${response.status}: ${await response.text()}`)
  }
  for (let done = 0; done < CHANGES - 1; done += AT_A_TIME) {
    const count = Math.min(AT_A_TIME, CHANGES - 1 - done)
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        set((((done + index) * 97) % (pets - 1)) + 2, done + index),
      ),
    )
  }
  await set(1, 4321)
  await page.locator('#pet-1', { hasText: /4,?321/ }).waitFor()
}

/** The heap in use after garbage collection. */
async function heapMb(debug: CDPSession): Promise<number> {
  await debug.send('HeapProfiler.collectGarbage')
  const { usedSize } = await debug.send('Runtime.getHeapUsage')
  return usedSize / 1024 / 1024
}
