import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop()

/** So low that every page scrolls. */
const viewport = { width: 1200, height: 500 }

const hash = (page: Page) => new URL(page.url()).hash
const results = (page: Page) => page.getByRole('navigation', { name: 'Reference' })

/** Waits until the element is right below the sticky bar and has the focus. */
async function arrivedAt(page: Page, id: string): Promise<void> {
  await page.waitForFunction((wanted) => {
    const top = document.getElementById(wanted)?.getBoundingClientRect().top ?? 0
    const bar = document.querySelector('.docs-topbar')?.getBoundingClientRect().bottom ?? Number.NaN
    return document.activeElement?.id === wanted && top >= bar && top < bar + 60
  }, id)
}

async function search(page: Page, query: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search the reference' }).fill(query)
}

/** The titles of the results, by group. */
function found(page: Page): Promise<Record<string, (string | null)[]>> {
  return results(page)
    .getByRole('region')
    .evaluateAll((groups) =>
      Object.fromEntries(
        groups.map((group) => [
          group.getAttribute('aria-label') ?? '',
          [...group.querySelectorAll('.docs-nav__text')].map(({ textContent }) => textContent),
        ]),
      ),
    )
}

describe('a heading', () => {
  test('of the start, of every guide and of the reference has an address of its own, and a link to it', async () => {
    const page = await shop.page({ path: '/docs', viewport })
    await page.getByRole('heading', { level: 1 }).waitFor()
    const guides = await page
      .getByRole('region', { name: 'Guides' })
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    expect(guides.length).toBeGreaterThanOrEqual(9)
    for (const view of ['#/', ...guides, '#/operations/adjustInventory', '#/schemas/Error']) {
      await page.evaluate((address) => location.assign(address), view)
      await page.locator(`.docs-nav__link[href="${view}"][aria-current]`).waitFor()
      const headings = await page.locator('main').evaluate((main) =>
        [...main.querySelectorAll('h1, h2, h3')].map((heading) => ({
          level: heading.tagName,
          id: heading.id,
          link: heading.parentElement?.querySelector('a')?.getAttribute('href'),
        })),
      )
      const ids = headings.map(({ id }) => id)
      expect([view, new Set(ids).size]).toEqual([view, ids.length])
      for (const { level, id, link } of headings) {
        expect(id).toMatch(/^\/(?:start|guides|operations|schemas)\/[\w/-]+$/)
        expect(link).toBe(level === 'H1' ? view : `#${id}`)
      }
    }
  })

  test('is where a link to it leads: from its own link, from another page, on reload, and once more after scrolling', async () => {
    const page = await shop.page({ path: '/docs#/guides/limits', viewport })
    await page.getByRole('link', { name: 'Link to “Remaining requests”' }).click()
    expect(hash(page)).toBe('#/guides/limits/remaining-requests')
    await arrivedAt(page, '/guides/limits/remaining-requests')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Limits', exact: true }).waitFor()
    await arrivedAt(page, '/guides/limits/remaining-requests')
    expect(
      await results(page).getByRole('link', { name: 'Limits', exact: true }).getAttribute('aria-current'),
    ).toBe('page')

    await page.evaluate(() => location.assign('#/operations/createOrder/try-it'))
    await page.getByRole('heading', { name: 'Try it', exact: true }).waitFor()
    await expectSoon(() => page.evaluate(() => document.activeElement?.id), '/operations/createOrder/try-it')
    await page.goBack()
    await arrivedAt(page, '/guides/limits/remaining-requests')
    await page.evaluate(() => scrollTo(0, 0))
    await page.getByRole('link', { name: 'Link to “Remaining requests”' }).click()
    await arrivedAt(page, '/guides/limits/remaining-requests')
  })

  test('and an answer too: it is unfolded, and its code leads to what to do about it', async () => {
    const page = await shop.page({ path: '/docs#/operations/createOrder/409', viewport })
    const answer = page.locator('details.answer', { hasText: 'Conflict' })
    await arrivedAt(page, '/operations/createOrder/409')
    expect(await answer.getAttribute('open')).not.toBeNull()
    await answer.getByRole('link', { name: 'insufficient_stock' }).click()
    await page.getByRole('heading', { level: 1, name: 'Errors', exact: true }).waitFor()
    expect(hash(page)).toBe('#/guides/errors/insufficient_stock')
    await arrivedAt(page, '/guides/errors/insufficient_stock')
  })
})

test('the search finds error codes, answers by status and by what they say, and the texts of the guides', async () => {
  const page = await shop.page({ path: '/docs', viewport })
  await page.getByRole('heading', { level: 1 }).waitFor()

  await search(page, 'insufficient_stock')
  const byCode = await found(page)
  expect(byCode['Error codes']).toEqual(['insufficient_stock'])
  expect(byCode.Answers).toContain('409 · Order a pet')
  expect(byCode['In the guides']).toContain('Never oversell: What a 409 means')

  await search(page, 'createOrder 409')
  expect((await found(page)).Answers?.[0]).toBe('409 · Order a pet')
  // Its answers are not found by the words of the operation alone.
  await search(page, 'createOrder')
  const byOperation = await found(page)
  expect([byOperation.store, byOperation.Answers]).toEqual([
    ['Order a pet', 'Create several orders'],
    undefined,
  ])
  await search(page, 'conflict')
  expect((await found(page)).Answers?.every((title) => title?.startsWith('409 · '))).toBe(true)

  await search(page, 'random jitter')
  expect(await found(page)).toEqual({ 'In the guides': ['Limits: When the limit is exceeded'] })
  await page.keyboard.press('Enter')
  await arrivedAt(page, '/guides/limits/when-the-limit-is-exceeded')
  expect(hash(page)).toBe('#/guides/limits/when-the-limit-is-exceeded')
})
