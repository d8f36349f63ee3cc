import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { petsNamed } from '../support/orders.ts'
import { fits, resize } from '../support/scanning.ts'
import { BROWSER_TEST_MS, JSON_HEADERS, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop({
  pets: petsNamed('Biscuit', 'Mittens', 'Goldie'),
  settings: { webhookPrivateAddresses: 'on' },
})

/** What has the focus, as a screen reader names it; nothing where it fell back to the page. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return ''
    return element.getAttribute('aria-label') ?? element.textContent
  })

test(
  'the focus stays where the work is: after a dialog, after a question, and where a button was that is gone',
  async () => {
    const page = await shop.signedIn({ path: '/#/pets' })
    await page.getByRole('button', { name: 'Edit Mittens' }).click()
    await page.getByRole('dialog').getByLabel('Warn me at').fill('3')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectSoon(() => focused(page), 'Edit Mittens')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await expectSoon(() => focused(page), 'Edit Mittens')
    await page.getByRole('button', { name: 'Add a pet' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectSoon(() => focused(page), 'Add a pet')
    await page.getByRole('button', { name: 'Edit Mittens' }).click()
    await page.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('button', { name: 'Yes, remove it' }).click()
    await page.getByRole('button', { name: 'Edit Mittens' }).waitFor({ state: 'detached' })
    await expectSoon(() => focused(page), 'Pets')

    const body = JSON.stringify({ url: 'http://127.0.0.1:9999/', kinds: ['pet.removed'] })
    await shop.service.call('POST', '/webhooks', { body, headers: JSON_HEADERS })
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('button', { name: /^Pause/ }).click()
    await page.getByRole('button', { name: /^Resume/ }).waitFor()
    await expectSoon(() => focused(page), 'Webhook to http://127.0.0.1:9999/')
  },
  BROWSER_TEST_MS,
)

test(
  'a file that is to be brought in is named at its field, and one pet is not several',
  async () => {
    const page = await shop.signedIn({ path: '/#/import' })
    const file = page.getByLabel('CSV file')
    const lines = [
      'petId,name,categoryId,status,quantity',
      '1,Biscuit,1,available,10',
      '8,Coco,1,available,1',
    ]
    const buffer = Buffer.from(lines.join('\n'))
    await file.setInputFiles({ name: 'spring.csv', mimeType: 'text/csv', buffer })
    await page.getByText('1 to add, 0 to change, 0 refused, 1 already as it is in the file.').waitFor()
    expect(await file.inputValue()).toContain('spring.csv')
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByText('Add 1 pet?').waitFor()
    await expectSoon(() => focused(page), 'Not yet')
  },
  BROWSER_TEST_MS,
)

test(
  'a tablet that is turned shows a pet and all changes whole; days the wrong way round are told apart from nothing',
  async () => {
    await shop.setElsewhere(1n, 8)
    const page = await shop.signedIn({ path: '/#/pets/1', viewport: { width: 1180, height: 820 } })
    await page.locator('.step-chart__line').waitFor()
    await resize(page, { width: 820, height: 1180 })
    await page.waitForFunction(() => (document.querySelector('.step-chart')?.clientWidth ?? 820) < 820)
    expect(await fits(page)).toBe(true)

    const tablet = await shop.signedIn({
      path: '/#/activity',
      viewport: { width: 820, height: 1180 },
      isTouch: true,
    })
    const boxes = await tablet
      .locator('.activity-filters input, .activity-filters select')
      .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect().toJSON()))
    const edge = (await tablet.locator('.activity-filters').boundingBox()) ?? { x: 0, width: 0 }
    for (const { right } of boxes) expect(right).toBeLessThanOrEqual(edge.x + edge.width + 1)
    await tablet.getByLabel('From').fill('2026-02-02')
    await tablet.getByLabel('To', { exact: true }).fill('2026-01-01')
    await tablet.getByText('“From” is after “To”').waitFor()
    await axe(tablet)
  },
  BROWSER_TEST_MS,
)
