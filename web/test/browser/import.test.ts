import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { focused } from '../support/layout.ts'
import { useShop } from '../support/shop.ts'

const shop = useShop()
const emptyShop = useShop({ pets: [] })
const HEADER = 'petId,name,categoryId,status,quantity'

async function choose(page: Page, text: string, name = 'new.csv'): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.getByLabel('CSV file').setInputFiles(file)
}

test('refused lines are listed and nothing is imported; a corrected file is', async () => {
  const page = await shop.signedIn({ path: '/#/import', provokes: [400] })
  await choose(page, 'PK\x03\x04', 'pets.xlsx')
  await page.getByRole('alert').getByText('the file is a spreadsheet workbook; save it as CSV').waitFor()
  await axe(page)
  const added = Array.from({ length: 150 }, (_, index) => `${1_001 + index},Pet ${index},1,sold,three`)
  await choose(page, [HEADER, '1,Rex,1,available,12', ...added].join('\n'), 'summer.csv')
  await page.getByText('Nothing was imported, because of 150 lines.').waitFor()
  await page
    .getByRole('table', { name: 'Refused lines' })
    .getByRole('row', { name: /^3 quantity must be an integer/ })
    .waitFor()
  await page.getByText('The first 100 lines are shown.').waitFor()
  await axe(page)
  await choose(page, [HEADER, '1,Rex,1,available,12', ...added].join('\n').replaceAll('three', '3'))
  await page.getByText('150 to add, 1 to change, 0 already as in the file.').waitFor()
  expect((await shop.service.call('GET', '/inventory/1001')).status).toBe(404)
  await axe(page)
  await page.getByRole('button', { name: 'Import 151 pets' }).click()
  await page.getByRole('heading', { name: 'new.csv is imported' }).waitFor()
  await page.getByRole('status').getByText('150 added, 1 changed.', { exact: true }).waitFor()
  expect(await focused(page)).toBe('Import')
  expect([await shop.inStock(1n), await shop.inStock(1_150n)]).toEqual([12, 3])
})

test('a file in Windows-1252 with other columns and German numbers is read as the person says', async () => {
  const page = await shop.signedIn({ path: '/#/import', provokes: [400] })
  const text = 'Artikel;Warengruppe;Vorrat;Preis\nK\xe4fer;Insekten;1.200;3,50\n'
  const file = { name: 'alt.csv', mimeType: 'text/csv', buffer: Buffer.from(text, 'latin1') }
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText('Columns that are not imported: "Vorrat", "Preis".').waitFor()
  await page.getByText('The file is not UTF-8 and was read as Windows-1252').waitFor()
  await page.getByLabel('Columns with other names').fill('Vorrat:quantity')
  await page.getByRole('button', { name: 'Check alt.csv' }).click()
  await page.getByRole('row', { name: /^2 "1.200" is ambiguous/ }).waitFor()
  await page.getByLabel('Numbers').selectOption('German, such as 1.200')
  await page.getByRole('button', { name: 'Check alt.csv' }).click()
  await page.getByText('1 to add, 0 to change').waitFor()
  await page.getByRole('button', { name: 'Import 1 pet' }).click()
  await page.getByRole('heading', { name: 'alt.csv is imported' }).waitFor()
  const { text: found } = await shop.service.call('GET', '/inventory/search?q=K%C3%A4fer')
  expect(found).toContain('"quantity":1200')
})

test('the template adds a pet in a new category', async () => {
  const page = await shop.signedIn({ path: '/#/import' })
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download a template' }).click()
  const template = await Bun.file(await (await downloading).path()).text()
  await choose(page, `sep=,\n${template}`)
  await page.getByText('1 to add, 0 to change').waitFor()
  await page.getByRole('button', { name: 'Import 1 pet' }).click()
  await page.getByRole('heading', { name: 'new.csv is imported' }).waitFor()
  const { text } = await shop.service.call('GET', '/inventory/search?q=goldfish')
  expect(text).toContain('"quantity":12')
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

test('an export is imported unchanged', async () => {
  const metadata = { sku: 'B 1', bin: '7' }
  await shop.send('PATCH', '/pets/1', { name: '=1+1', barcode: '4006381333931', lowStockAt: 2, metadata })
  const page = await shop.signedIn()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const text = await Bun.file(await (await downloading).path()).text()
  const pairs = '"{""bin"":""7"",""sku"":""B 1""}"'
  expect(text).toContain(`\n1,'=1+1,1,available,12,4006381333931,2,${pairs},Category 1\n`)
  await page.getByText('Excel alters long barcodes').waitFor()
  await page.evaluate(() => location.assign('#/import'))
  await choose(page, text)
  await page.getByText('0 to add, 0 to change').waitFor()
})
