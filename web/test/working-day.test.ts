import { expect, test } from 'bun:test'
import { axe } from './support/axe.ts'
import { petsNamed } from './support/orders.ts'
import { fits } from './support/scanning.ts'
import { BROWSER_TEST_MS, useShop } from './support/shop.ts'

const shop = useShop({ pets: petsNamed('Biscuit', 'Mittens', 'Goldie') })

test(
  'a tablet that is turned shows a pet and all changes whole',
  async () => {
    await shop.setElsewhere(1n, 8)
    const page = await shop.signedIn({ path: '/#/pets/1', viewport: { width: 1180, height: 820 } })
    await page.locator('.step-chart__line').waitFor()
    await page.setViewportSize({ width: 820, height: 1180 })
    await page.waitForFunction(() => (document.querySelector('.step-chart')?.clientWidth ?? 820) < 820)
    expect(await fits(page)).toBe(true)

    const tablet = await shop.signedIn({
      ...{ path: '/#/activity', viewport: { width: 820, height: 1180 }, isTouch: true },
    })
    const boxes = await tablet
      .locator('.activity-filters input, .activity-filters select')
      .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect().toJSON()))
    const edge = (await tablet.locator('.activity-filters').boundingBox()) ?? { x: 0, width: 0 }
    for (const { right } of boxes) expect(right).toBeLessThanOrEqual(edge.x + edge.width + 1)
    await axe(tablet)
  },
  BROWSER_TEST_MS,
)
