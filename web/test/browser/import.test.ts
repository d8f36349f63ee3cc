import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { BROWSER_TEST_MS, JSON_HEADERS, useShop } from '../support/shop.ts'

const shop = useShop()
const COUNT = 2_500

/** Every pet has its id as its barcode. */
async function preview(page: Page, firstId: number): Promise<void> {
  const lines = Array.from({ length: COUNT }, (_, index) => {
    const id = firstId + index
    return `${id},Pet ${id},1,sold,3,${id}`
  })
  const text = ['petId,name,categoryId,status,quantity,barcode', ...lines].join('\n')
  const file = { name: 'summer.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText('2,500 to add, 0 to change, 0 refused').waitFor()
}

async function confirm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Import…' }).click()
  await page.getByRole('button', { name: 'Yes, import' }).click()
}

test(
  '2,500 pets are imported in 4 requests, of which one is a repeat without the line that the service refused',
  async () => {
    const page = await shop.signedIn({ path: '/#/import', provokes: [409] })
    await preview(page, 1_001)
    await page.getByText('The import needs 3 requests and takes less than a minute.').waitFor()
    const body = JSON.stringify({ id: 100, name: 'Faster', categoryId: 1, barcode: '2050' })
    expect((await shop.service.call('POST', '/pets', { headers: JSON_HEADERS, body })).status).toBe(201)
    const requests: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') requests.push(`${request.method()} ${new URL(request.url()).pathname}`)
    })
    await confirm(page)
    await page.getByRole('heading', { name: 'summer.csv is imported' }).waitFor()
    await page.getByText('2,499 added, 0 changed, 1 failed.').waitFor()
    const failed = page.getByRole('table', { name: 'Failed' })
    await failed
      .getByRole('row', { name: '1,051 Pet 2050 barcode 2050 is already used by pet 100' })
      .waitFor()
    await axe(page)
    expect(requests).toEqual(Array(4).fill('POST /v1/pets/batch'))
    expect(await Promise.all([1_001n, 2_049n, 3_500n].map(shop.inStock))).toEqual([3, 3, 3])
    expect((await shop.service.call('GET', '/inventory/2050')).status).toBe(404)
  },
  BROWSER_TEST_MS,
)

test(
  'a stopped import waits for the current batch, sends no other, and says how to import the rest',
  async () => {
    const page = await shop.signedIn({ path: '/#/import' })
    await preview(page, 5_001)
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let batches = 0
    await page.route('**/v1/pets/batch', async (route) => {
      batches++
      if (batches === 2) {
        arrived.resolve()
        await released.promise
      }
      await route.continue()
    })
    await confirm(page)
    await arrived.promise
    await page.getByText('1,000 of 2,500 pets').waitFor()
    await axe(page)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Stopping' }).waitFor()
    released.resolve()
    await page.getByRole('heading', { name: 'Import of summer.csv stopped' }).waitFor()
    await page.getByText('2,000 added, 0 changed.').waitFor()
    await page.getByText('Import the same file again to import the rest.').waitFor()
    await axe(page)
    expect(batches).toBe(2)
    expect(await shop.inStock(7_000n)).toBe(3)
    expect((await shop.service.call('GET', '/inventory/7001')).status).toBe(404)
  },
  BROWSER_TEST_MS,
)
