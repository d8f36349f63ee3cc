import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { BROWSER_TEST_MS, JSON_HEADERS, useShop } from '../support/shop.ts'

const shop = useShop()
const emptyShop = useShop({ pets: [] })
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

async function choose(page: Page, text: string, name = 'new.csv'): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.getByLabel('CSV file').setInputFiles(file)
}

test(
  'the question before an import names quantities that may be mistakes',
  async () => {
    const page = await shop.signedIn({ path: '/#/import' })
    await choose(page, 'petId,name,categoryId,status,quantity\n8101,Wrong column,1,sold,4006381333931\n')
    await page.getByText('1 to add, 0 to change, 0 refused').waitFor()
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByText('Are these quantities right? Wrong column 4,006,381,333,931.').waitFor()
    await page.getByRole('button', { name: 'Not yet' }).click()
    expect((await shop.service.call('GET', '/inventory/8101')).status).toBe(404)
  },
  BROWSER_TEST_MS,
)

test(
  'the template adds a pet in a category by its name, which is created after a question',
  async () => {
    const page = await shop.signedIn({ path: '/#/import' })
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download a template' }).click()
    const template = await Bun.file(await (await downloading).path()).text()
    await choose(page, `sep=,\n${template}`)
    await page.getByText('1 to add, 0 to change, 0 refused').waitFor()
    await page.getByText('new id, Fish, available, 12 in stock').waitFor()
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByRole('dialog').getByText('Category “Fish” is new and will be added.').waitFor()
    await axe(page)
    await page.getByRole('button', { name: 'Yes, import' }).click()
    await page.getByText('1 added, 0 changed.').waitFor()
    const { text } = await shop.service.call('GET', '/inventory/search?q=goldfish')
    expect(text).toContain('"quantity":12')
    await choose(page, template)
    await page.getByText('1 pet without a petId').waitFor()
    await axe(page)
  },
  BROWSER_TEST_MS,
)

test(
  'an empty store offers to import a file and to add a pet, if the key may change pets',
  async () => {
    const page = await emptyShop.signedIn()
    await page.getByRole('link', { name: 'Import a file' }).click()
    await page.getByRole('heading', { name: 'Import pets from a file' }).waitFor()
    await page.goBack()
    await page.getByText('No pets yet').waitFor()
    await axe(page)
    await page.getByRole('link', { name: 'Add a pet' }).click()
    await page.getByRole('button', { name: 'Add a pet' }).waitFor()
    const { secret } = await emptyShop.service.createKey('enterprise', { permissions: ['stock'] })
    const limited = await emptyShop.signedIn({ key: secret })
    await limited.getByText('They appear here once somebody adds them.').waitFor()
    expect(await limited.getByRole('link', { name: 'Import a file' }).count()).toBe(0)
  },
  BROWSER_TEST_MS,
)

test(
  'files that a spreadsheet has spoiled are refused with an explanation',
  async () => {
    const page = await shop.signedIn({ path: '/#/import' })
    await choose(page, 'PK\x03\x04', 'pets.xlsx')
    await page.getByRole('alert').getByText('pets.xlsx is a spreadsheet workbook, not a CSV file').waitFor()
    const header = 'petId,name,categoryId,status,quantity,barcode'
    await choose(page, `${header}\n1,Biscuit,1,available,4,4.00638E+12\n`)
    await page.getByText('0 to add, 0 to change, 1 refused').waitFor()
    await page.getByText('a spreadsheet has shortened the barcode to 4.00638E+12').waitFor()
    await axe(page)
    await choose(page, `${header}\n1,Biscuit,1,available,4,4.00638E+12\n999,Fern,1,available,4,\n`)
    await page.getByText('1 to add, 0 to change, 1 refused').waitFor()
    await page.getByRole('table', { name: 'refused' }).getByText('4.00638E+12').waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'an export is imported unchanged, and warns about barcodes that spreadsheets shorten',
  async () => {
    const body = JSON.stringify({ name: '=1+1', barcode: '4006381333931', lowStockAt: 2 })
    expect((await shop.service.call('PATCH', '/pets/1', { headers: JSON_HEADERS, body })).status).toBe(200)
    const page = await shop.signedIn()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const text = await Bun.file(await (await downloading).path()).text()
    expect(text).toContain("\n1,'=1+1,1,available,4,4006381333931,2,Category 1\n")
    await page.getByText('would alter 1 barcode.').waitFor()
    await page.evaluate(() => location.assign('#/import'))
    await choose(page, text)
    await page.getByText('0 to add, 0 to change, 0 refused').waitFor()
    await page.getByText('protects a cell from spreadsheets').waitFor()
    await axe(page)
  },
  BROWSER_TEST_MS,
)
