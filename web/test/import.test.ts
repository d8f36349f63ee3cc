import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from './support/axe.ts'
import { BROWSER_TEST_MS, JSON_HEADERS, useShop } from './support/shop.ts'

const shop = useShop()
const COUNT = 2_500
/** The pets of the file have the ids 1001 to 3500, and their ids as barcodes. */
const lines = Array.from(
  { length: COUNT },
  (_, index) => `${1_001 + index},Pet ${index},1,sold,3,${1_001 + index}`,
)
const FILE = ['petId,name,categoryId,status,quantity,barcode', ...lines].join('\n')

async function preview(page: Page): Promise<void> {
  const file = { name: 'summer.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE) }
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText(/ to add, 0 to change, 0 refused/).waitFor()
}

async function confirm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Import…' }).click()
  await page.getByRole('button', { name: 'Yes, import' }).click()
}

test(
  '2,500 pets are imported in 4 requests, of which one is a repeat without the line that the service refused',
  async () => {
    const page = await shop.signedIn({ path: '/#/import', provokes: [409] })
    await preview(page)
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
      .getByRole('row', { name: '1,051 Pet 1049 barcode 2050 is already used by pet 100' })
      .waitFor()
    await axe(page)
    expect(requests).toEqual(Array(4).fill('POST /v1/pets/batch'))
    expect(await Promise.all([1_001n, 2_049n, 3_500n].map(shop.inStock))).toEqual([3, 3, 3])
    expect((await shop.service.call('GET', '/inventory/2050')).status).toBe(404)
  },
  BROWSER_TEST_MS,
)
