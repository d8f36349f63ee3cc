import { expect, test } from 'bun:test'
import { readHeader } from '../../src/core/transfer/csv.ts'
import { parseMapping } from '../../src/core/transfer/files.ts'
import { matchPreset, type PresetName, readPreset } from '../../src/core/transfer/presets.ts'
import { PET_ROW_KIND } from '../../src/core/transfer/rows.ts'

const SHOPIFY_INVENTORY = `Handle,Title,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,SKU,HS Code,COO,Location,Bin name,Incoming (not editable),Unavailable (not editable),Committed (not editable),Available (not editable),On hand (current),On hand (new)
collar,Collar,Color,Red,Size,M,,,COL-R-M,4201,DE,Shop,A1,0,0,1,11,12,
collar,Collar,Color,Red,Size,M,,,COL-R-M,4201,DE,Warehouse,,5,0,0,30,30,
collar,Collar,Color,Red,Size,L,,,COL-R-L,4201,DE,Shop,A2,0,0,0,2,2,
collar,Collar,Color,Red,Size,L,,,COL-R-L,4201,DE,Warehouse,,not stocked,not stocked,not stocked,not stocked,not stocked,
hay,Hay,Title,Default Title,,,,,HAY,,,Shop,,0,0,0,-1,-1,
hay-2,Hay,Title,Default Title,,,,,,,,Shop,,0,0,0,4,4,
`

const SHOPIFY_PRODUCTS = `Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Fulfillment Service,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description,Variant Image,Variant Weight Unit,Variant Tax Code,Cost per item,Status
collar,Collar,"<p>Soft,
red</p>",Paws,Animals & Pet Supplies > Pet Supplies > Dog Supplies,,dog,true,Color,Red,Size,M,,,COL-R-M,50,shopify,12,deny,manual,9.90,,true,true,4006381333931,https://example.com/1.jpg,1,,false,,,,g,,4,active
collar,,,,,,,,,Red,,L,,,COL-R-L,60,shopify,2,deny,manual,9.90,,true,true,,,,,,,,,g,,4,
collar,,,,,,,,,,,,,,,,,,,,,,,,,https://example.com/2.jpg,2,,,,,,,,,
hay,Hay,,Paws,,Food,,true,Title,Default Title,,,,,HAY,900,shopify,4,deny,manual,5,,true,true,,,,,false,,,,g,,2,draft
`

const SHOPIFY_NEW_PRODUCTS = `Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode,Option1 name,Option1 value,Option2 name,Option2 value,Option3 name,Option3 value,Price,Inventory tracker,Inventory quantity,Continue selling when out of stock,Weight value (grams),Product image URL
Hay,hay,,Paws,,Food,,TRUE,Active,HAY,,Title,Default Title,,,,,5,shopify,4,DENY,900,
`

const SQUARE = `Reference Handle,Token,Item Name,Customer-facing Name,Variation Name,SKU,Description,Categories,Reporting Category,GTIN,Item Type,Weight (lb),Social Media Link Title,Social Media Link Description,Price,Online Sale Price,Archived,Sellable,Contains Alcohol,Stockable,Skip Detail Screen in POS,Option Name 1,Option Value 1,Current Quantity Main St.,New Quantity Main St.,Stock Alert Enabled Main St.,Stock Alert Count Main St.,Current Quantity Airport,New Quantity Airport,Stock Alert Enabled Airport,Stock Alert Count Airport,Tax - Sales (6.625%)
#hay,5XYCCJMKAXEVXO3FITUU3WBR,Hay,,Regular,HAY,,"Food (T2B3ROTJ3HFGVBO22QLOOJDE), Rabbits (T2B3ROTJ3HFGVBO22QLOOJDF)",,4006381333931,Physical,2,,,5,,N,Y,N,Y,N,,,12,,Y,3,3,,Y,2,Y
#bag-s,5XYCCJMKAXEVXO3FITUU3WBS,Bag,,Small,BAG-S,,Walks,Walks (T2B3ROTJ3HFGVBO22QLOOJDG),,Physical,1,,,9,,N,Y,N,Y,N,Size,Small,4,,N,,,,N,,Y
#bag-l,5XYCCJMKAXEVXO3FITUU3WBT,Bag,,Large,BAG-L,,Walks,Walks (T2B3ROTJ3HFGVBO22QLOOJDG),,Physical,1,,,9,,N,Y,N,Y,N,Size,Large,,,N,,,,N,,Y
`

/** Such as `2 Collar, Red, M | COL-R-M | 42`: the line and the fields that are given. */
function read(preset: PresetName, text: string, map?: string): string[] {
  const header = readHeader(text)
  const mapping = map === undefined ? undefined : parseMapping(map)
  const rows = [...readPreset(text, header, matchPreset(header, preset, PET_ROW_KIND, mapping))].flat()
  return rows.map((row) => {
    if ('reason' in row) return `${row.line} ${row.reason}`
    return `${row.line} ${row.fields.filter((field) => field !== undefined).join(' | ')}`
  })
}

test('the inventory of Shopify: the locations are added, and options are part of the name', () => {
  expect(read('shopify', SHOPIFY_INVENTORY)).toEqual([
    '2 Collar, Red, M | 42 | COL-R-M',
    '4 Collar, Red, L | 2 | COL-R-L',
    '6 Hay | -1 | HAY',
    '7 Hay | 4',
  ])
})

test('the products of Shopify: the first row has the title and the category, and rows of images are no pets', () => {
  expect(read('shopify', SHOPIFY_PRODUCTS)).toEqual([
    '2 Collar, Red, M | 12 | 4006381333931 | Dog Supplies',
    '4 Collar, Red, L | 2 | COL-R-L | Dog Supplies',
    '6 Hay | 4 | HAY | Food',
  ])
  expect(read('shopify', SHOPIFY_NEW_PRODUCTS)).toEqual(['2 Hay | 4 | HAY | Food'])
})

test('the item library of Square: the locations are added, and categories lose their tokens', () => {
  expect(read('square', SQUARE)).toEqual([
    '2 Hay | 15 | 4006381333931 | 5 | Food',
    '3 Bag, Small | 4 | BAG-S | Walks',
    '4 Bag, Large | BAG-L | Walks',
  ])
})

test('a mapped column replaces those of the preset, for example to read one location', () => {
  const map = 'Current Quantity Airport:quantity,SKU:barcode'
  expect(read('square', SQUARE, map)[0]).toBe('2 Hay | 3 | HAY | 5 | Food')
})

test('quantities that are not whole numbers are not added, but refused by the import', () => {
  const half = SQUARE.replace(',12,', ',1.5,')
  expect(read('square', half)[0]).toBe('2 Hay | 1.5 + 3 | 4006381333931 | 5 | Food')
})

test('the columns of no row are ignored, and another file is refused', () => {
  const { ignored } = matchPreset(readHeader(SHOPIFY_INVENTORY), 'shopify', PET_ROW_KIND)
  expect(ignored).toEqual(expect.arrayContaining(['"Location"', '"On hand (new)"', '"Option1 Name"']))
  expect(() => read('square', SHOPIFY_INVENTORY)).toThrow('lacks Item Name, so it is not an export of square')
})
