import { expect, test } from 'bun:test'
import { fits, focused, resize } from '../support/layout.ts'
import { petsNamed } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop({
  pets: petsNamed('Biscuit', 'Mittens', 'Goldie'),
  settings: { webhookPrivateAddresses: 'on' },
})

test('the focus stays where the work is: after a dialog, after a question, and where a button was that is gone', async () => {
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

  await shop.send('POST', '/webhooks', { url: 'http://127.0.0.1:9999/', kinds: ['pet.removed'] })
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('button', { name: /^Pause/ }).click()
  await page.getByRole('button', { name: /^Resume/ }).waitFor()
  await expectSoon(() => focused(page), 'Webhook to http://127.0.0.1:9999/')
})

test('a tablet that is turned shows a pet and all changes whole; days the wrong way round are told apart from nothing', async () => {
  await shop.setElsewhere(1n, 8)
  const page = await shop.signedIn({ path: '/#/pets/1', viewport: { width: 1180, height: 820 } })
  await page.locator('.step-chart__line').waitFor()
  await resize(page, { width: 820, height: 1180 })
  await fits(page)

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
})
