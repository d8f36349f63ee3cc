import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { OpenApiDocument, Parameter, Reference } from '../../src/docs-page/openapi-document.ts'
import { statusPhrase } from '../../src/docs-page/reference/tags.tsx'
import { axeInBothThemes } from '../support/axe.ts'
import { PHONE } from '../support/layout.ts'
import { useShop } from '../support/shop.ts'

const shop = useShop({ settings: { petSunset: '2031-02-03' } })
let contract: OpenApiDocument

beforeAll(async () => {
  contract = (await shop.service.fetch('GET', '/openapi.json')).json as OpenApiDocument
})

function described() {
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  )
}

function parameterName(parameter: Parameter | Reference): string {
  if (!('$ref' in parameter)) return parameter.name
  const name = parameter.$ref.replace('#/components/parameters/', '')
  return contract.components.parameters[name]?.name ?? `unknown ${parameter.$ref}`
}

function heading(page: Page, name: string) {
  return page.getByRole('heading', { level: 1, name, exact: true })
}

describe('the reference', () => {
  test('has a page for every operation of the contract, with its stability, parameters and every status', async () => {
    const page = await shop.page({ path: '/docs' })
    const operations = described()
    expect(operations.length).toBeGreaterThanOrEqual(8)
    for (const operation of operations) {
      const { operationId, summary, method, path, parameters, responses } = operation
      await page.evaluate((id) => location.assign(`#/operations/${id}`), operationId)
      await heading(page, summary).waitFor()
      const shown = await page.locator('.operation').evaluate((element) => ({
        address: element.querySelector('.operation__address code')?.textContent,
        method: element.querySelector('.operation__address .method')?.textContent,
        badges: [...element.querySelectorAll('.operation__title .badge')].map((each) => each.textContent),
        fields: [
          ...element.querySelectorAll('.operation__text > section > .field-list .field-row__name'),
        ].map((each) => each.textContent),
        statuses: [...element.querySelectorAll('.answer__summary .status-tag')].map(
          (each) => each.textContent,
        ),
      }))
      expect(shown.method).toBe(method)
      expect(shown.address).toBe(`/v1${path}`)
      const { 'x-stability': stability, 'x-sunset': sunset } = operation
      expect(shown.badges).toEqual(sunset === undefined ? [stability] : ['deprecated', stability])
      expect(shown.fields).toEqual(expect.arrayContaining(parameters.map(parameterName)))
      expect(shown.statuses).toEqual(Object.keys(responses))
      for (const status of shown.statuses) expect(statusPhrase(Number(status))).toMatch(/^[A-Z]/)
    }
  })

  test('says on the deprecated operation when it ends, and links to what takes its place', async () => {
    const page = await shop.page({ path: '/docs#/operations/getPet' })
    const notice = page.getByRole('note')
    expect(await notice.textContent()).toContain('It ends on 3 February 2031 (2031-02-03)')
    await page.locator('.lead').getByRole('link', { name: 'GET /catalog/{petId}' }).click()
    await heading(page, 'Get one pet of the catalog').waitFor()
  })

  test('keeps to the address: deep links, back, and a word where there is nothing', async () => {
    const page = await shop.page({ path: '/docs#/schemas/Error' })
    await heading(page, 'Error').waitFor()
    expect(await page.title()).toContain('Error')
    expect(await page.getByRole('list', { name: 'Fields of Error' }).textContent()).toContain('key_banned')
    await page
      .getByRole('navigation', { name: 'Reference' })
      .getByRole('link', { name: 'Limits', exact: true })
      .click()
    await heading(page, 'Limits').waitFor()
    expect(new URL(page.url()).hash).toBe('#/guides/limits')
    await page.goBack()
    await heading(page, 'Error').waitFor()
    await page.goto(`${shop.service.address}/docs#/operations/nonsense`)
    await heading(page, 'There is nothing at this address').waitFor()
  })

  test('finds an operation by its words, with the keyboard alone', async () => {
    const page = await shop.page({ path: '/docs' })
    await heading(page, contract.info.title).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('patch adjustments')
    const links = page.getByRole('navigation', { name: 'Reference' }).getByRole('link')
    await links.filter({ hasText: 'List pets' }).waitFor({ state: 'detached' })
    expect((await links.allTextContents())[0]).toBe('Set the stock quantity of one petPATCH')
    // No other page; below it are the answers and the guides that have these words in their text.
    const groups = page.getByRole('navigation', { name: 'Reference' }).getByRole('region')
    const names = await groups.evaluateAll((all) => all.map((each) => each.ariaLabel))
    expect(names).toEqual(['inventory', 'Answers', 'In the guides'])
    expect(await groups.first().getByRole('link').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await heading(page, 'Set the stock quantity of one pet').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type(' of unicorns')
    await page.getByText('Nothing contains').waitFor()
  })

  test('has its menu in a drawer on a phone, and no page is wider than that', async () => {
    const page = await shop.page({ path: '/docs', viewport: PHONE })
    const menu = page.getByRole('button', { name: 'Menu', exact: true })
    const link = page
      .getByRole('navigation', { name: 'Reference' })
      .getByRole('link', { name: 'Events', exact: true })
    await menu.waitFor()
    expect(await link.isVisible()).toBe(false)
    await menu.click()
    await link.click()
    await heading(page, 'Events').waitFor()
    await link.waitFor({ state: 'hidden' })

    const views = await page
      .locator('.docs-nav__link')
      .evaluateAll((all) => all.map((each) => each.getAttribute('href')))
    const tooWide: (string | null)[] = []
    for (const view of views) {
      await page.evaluate((hash) => location.assign(hash ?? ''), view)
      await page.locator(`.docs-nav__link[href="${view}"][aria-current]`).waitFor({ state: 'attached' })
      if ((await page.evaluate(() => document.documentElement.scrollWidth)) > 390) tooWide.push(view)
    }
    expect(tooWide).toEqual([])
  })

  test('says so where the contract cannot be had, and draws itself when it can', async () => {
    const page = await shop.page({ path: '/docs', provokes: ['no connection'] })
    await page.route('**/openapi.json', (route) => route.abort())
    await page.reload()
    await heading(page, 'The reference cannot be shown').waitFor()
    await page.unroute('**/openapi.json')
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, contract.info.title).waitFor()
  })
})

test('every guide opens from the menu, and tells the plans and the codes of the contract', async () => {
  const page = await shop.page({ path: '/docs' })
  const links = page.getByRole('region', { name: 'Guides' }).getByRole('link')
  await links.first().waitFor()
  const titles = await links.allTextContents()
  await page.getByText('API version 1.0.0', { exact: true }).waitFor()
  const tables = new Map<string, readonly string[]>()
  for (const title of titles) {
    await links.filter({ hasText: title }).click()
    await heading(page, title).waitFor()
    tables.set(title, await page.locator('main tbody tr').allTextContents())
  }
  expect(tables.get('Limits')?.slice(0, 4)).toEqual([
    ...['free601,000', 'pro30010,000', 'business1,000100,000', 'enterpriseas agreedas agreed'],
  ])
  const methods = tables.get('The TypeScript client') ?? []
  expect(methods.filter((row) => row.startsWith('client.pets.get'))).toEqual([
    'client.pets.getGET /catalog/{petId}',
  ])
  const codes = contract['x-error-codes']
  expect(codes.length).toBeGreaterThan(0)
  expect(tables.get('Errors')).toEqual(
    codes.map(({ code, status, description }) =>
      expect.stringMatching(new RegExp(`^${RegExp.escape(`${status}${code}${description}`)}.+`)),
    ),
  )
})

test('the drawings of the guides are described in words, fit a phone, and have text of a readable size', async () => {
  const viewport = { width: 360, height: 740 }
  const page = await shop.page({ path: '/docs', viewport })
  for (const guide of ['limits', 'change-stock-safely', 'webhooks', 'never-oversell']) {
    await page.evaluate((id) => location.assign(`#/guides/${id}`), guide)
    await page
      .locator(`.docs-nav__link[href="#/guides/${guide}"][aria-current]`)
      .waitFor({ state: 'attached' })
    const drawing = page.locator('.drawing svg[role="img"]')
    const ids = (await drawing.getAttribute('aria-labelledby'))?.split(' ') ?? []
    const words = await Promise.all(ids.map((id) => page.locator(`#${id}`).textContent()))
    expect(words.join(' ').length).toBeGreaterThan(100)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
    const { box, cut } = await drawing.evaluate((svg) => {
      const box = svg.getBoundingClientRect()
      const texts = [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect())
      const isCut = ({ left, right, bottom }: DOMRect) =>
        left < box.left - 1 || right > box.right + 1 || bottom > box.bottom + 1
      return { box, cut: texts.filter(isCut).length }
    })
    expect([box.left >= 0, box.right <= viewport.width, cut]).toEqual([true, true, 0])
  }
  // The drawing of orders has the most text, each inside of its box.
  const sizes = await page.locator('.drawing g:has(> rect) > text').evaluateAll((all) =>
    all.map((text) => {
      const own = text.getBoundingClientRect()
      const box = text.parentElement?.querySelector('rect')?.getBoundingClientRect()
      const isInside = box !== undefined && own.left > box.left && own.right < box.right
      return { isInside, px: (13 * own.height) / (text as SVGTextElement).getBBox().height }
    }),
  )
  expect(sizes.length).toBeGreaterThan(15)
  for (const { isInside, px } of sizes) expect([isInside, px > 10.5]).toEqual([true, true])
})

test('axe-core finds nothing serious, in the light and in the dark theme', async () => {
  const page = await shop.page({ path: '/docs' })
  for (const view of ['#/operations/updateInventory', '#/guides/errors', '#/guides/never-oversell']) {
    await page.evaluate((hash) => location.assign(hash), view)
    await page.locator(`.docs-nav__link[href="${view}"][aria-current]`).waitFor()
    await page.locator('.answer:nth-child(-n + 3):not([open]) > summary').evaluateAll((all) => {
      for (const summary of all) (summary as HTMLElement).click()
    })
    await axeInBothThemes(page)
  }
})
