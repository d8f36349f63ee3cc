import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { focused } from '../support/layout.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop()
const emptyShop = useShop({ pets: [] })
const HEADER = 'petId,name,categoryId,status,quantity'

async function choose(page: Page, text: string, name = 'new.csv'): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.getByLabel('CSV file').setInputFiles(file)
}

test('a file is shown line by line before anything is changed, then imported; refused lines are listed, and it can be stopped', async () => {
  const page = await shop.signedIn({ path: '/#/import', provokes: [409] })
  await choose(page, 'PK\x03\x04', 'pets.xlsx')
  await page.getByRole('alert').getByText('the file is a spreadsheet workbook; save it as CSV').waitFor()
  await axe(page)
  const lines = Array.from({ length: 2_200 }, (_, index) => `${1_001 + index},Pet ${index},1,sold,3,${index}`)
  const changed = ['1,Rex,1,available,12,', '2,Mittens,1,gone,1,']
  await choose(page, [`${HEADER},barcode`, ...changed, ...lines].join('\n'), 'summer.csv')
  await page.getByText('2,200 to add, 1 to change, 1 refused').waitFor()
  expect(await page.getByLabel('CSV file').inputValue()).toContain('summer.csv')
  const table = page.getByRole('table')
  await table.getByRole('row', { name: /3 status must be one of/ }).waitFor()
  await page.getByRole('button', { name: 'To change 1' }).click()
  await table.getByRole('row', { name: /2 Rex name to Rex, .*quantity from 4 to 12/ }).waitFor()
  await axe(page)
  await shop.send('POST', '/pets', { id: 100, name: 'Faster', categoryId: 1, barcode: '50' })
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let batches = 0
  await page.route('**/v1/pets/batch', async (route) => {
    batches++
    if (batches === 3) {
      arrived.resolve()
      await released.promise
    }
    await route.continue()
  })
  await page.getByRole('button', { name: 'Import…' }).click()
  await expectSoon(() => focused(page), 'Not yet')
  expect(batches).toBe(0)
  await page.getByRole('button', { name: 'Yes, import' }).click()
  await arrived.promise
  await page.getByText(/^[\d,]+ of 2,201 pets$/).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stopping' }).waitFor()
  released.resolve()
  await page.getByRole('heading', { name: 'Import of summer.csv stopped' }).waitFor()
  await page.getByText('Import the same file again to import the rest.').waitFor()
  await page
    .getByRole('table', { name: 'Failed' })
    .getByRole('row', { name: /Pet 50 barcode 50 is already used by pet 100$/ })
    .waitFor()
  await axe(page)
  expect(batches).toBe(3)
})

test('the question before an import names quantities that may be mistakes', async () => {
  const page = await shop.signedIn({ path: '/#/import' })
  await choose(page, 'petId,name,categoryId,status,quantity\n8101,Wrong column,1,sold,4006381333931\n')
  await page.getByText('1 to add, 0 to change, 0 refused').waitFor()
  await page.getByRole('button', { name: 'Import…' }).click()
  await page.getByText('Are these quantities right? Wrong column 4,006,381,333,931.').waitFor()
  await page.getByRole('button', { name: 'Not yet' }).click()
  expect((await shop.service.call('GET', '/inventory/8101')).status).toBe(404)
})

test('the template adds a pet in a category by its name, which is created after a question', async () => {
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
})

test('an empty store offers to import a file and to add a pet, if the key may change pets', async () => {
  const page = await emptyShop.signedIn()
  await page.getByRole('link', { name: 'Import a file' }).click()
  await page.getByRole('heading', { name: 'Import pets from a file' }).waitFor()
  await page.goBack()
  await page.getByText('No pets yet').waitFor()
  await page.getByRole('link', { name: 'Add a pet' }).click()
  await page.getByRole('button', { name: 'Add a pet' }).waitFor()
  const { secret } = await emptyShop.service.createKey('enterprise', { permissions: ['stock'] })
  const limited = await emptyShop.signedIn({ key: secret })
  await limited.getByText('They appear here once somebody adds them.').waitFor()
  expect(await limited.getByRole('link', { name: 'Import a file' }).count()).toBe(0)
})

test('an export is imported unchanged, and warns about barcodes that spreadsheets shorten', async () => {
  const metadata = { sku: 'B 1', bin: '7' }
  await shop.send('PATCH', '/pets/1', { name: '=1+1', barcode: '4006381333931', lowStockAt: 2, metadata })
  const page = await shop.signedIn()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const text = await Bun.file(await (await downloading).path()).text()
  const pairs = '"{""bin"":""7"",""sku"":""B 1""}"'
  expect(text).toContain(`\n1,'=1+1,1,available,4,4006381333931,2,${pairs},Category 1\n`)
  await page.getByText('would alter 1 barcode.').waitFor()
  await page.evaluate(() => location.assign('#/import'))
  await choose(page, text)
  await page.getByText('0 to add, 0 to change, 0 refused').waitFor()
  await page.getByText('protects a cell from spreadsheets').waitFor()
})
