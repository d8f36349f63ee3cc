import { expect, test } from 'bun:test'
import { axe } from '../support/axe.ts'
import { keyField, useShop } from '../support/shop.ts'

const shop = useShop()

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was wrong',
    (error: Error) => error.message,
  )

test('a page that logs an error, throws, or asks another host fails its test', async () => {
  const page = await shop.page()
  await (await keyField(page)).waitFor()
  const reported = Promise.all([
    page.waitForEvent('console', (message) => message.text().includes('127.0.0.2')),
    page.waitForEvent('pageerror'),
  ])
  await page.evaluate(() => {
    console.error('something is off')
    setTimeout(() => {
      throw new Error('thrown by the page')
    })
    void fetch('http://127.0.0.2:9/elsewhere').catch(() => {})
  })
  await reported
  const message = await messageOf(shop.closePages())
  expect(message).toContain('console error: something is off')
  expect(message).toContain('uncaught Error: thrown by the page')
  expect(message).toContain('127.0.0.2:9/elsewhere')
})

test('a request that fails is a problem, unless the test says that it provokes it', async () => {
  for (const provokes of [[], [401]]) {
    const page = await shop.page({ provokes })
    await (await keyField(page)).fill('pst_live_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(/not valid/).waitFor()
    const expected = provokes.length === 0 ? /status of 401/ : /^nothing was wrong$/
    expect(await messageOf(shop.closePages())).toMatch(expected)
  }
})

test('the accessibility check sees what it is there to see', async () => {
  const page = await shop.page()
  await (await keyField(page)).waitFor()
  expect(await messageOf(axe(page))).toBe('nothing was wrong')
  await page.evaluate(() => {
    const button = document.createElement('button')
    document.querySelector('main')?.append(button)
  })
  expect(await messageOf(axe(page))).toContain('critical button-name')
})
