import { expect, test } from 'bun:test'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import { petNamed, petsLike, scannedIn } from '../../../src/staff-page/scanner/find-pets.ts'
import { fillStock } from '../../support/desk.ts'

const NAMES = ['Golden Hamster', 'Goldie', 'Marigold', 'Zoë Gold', 'Plain']

function stocked(): StockModel {
  const stock = new StockModel()
  stock.barcodes.take([
    { petId: 1n, barcode: '4006381333931' },
    { petId: 2n, barcode: '036000291452' },
    { petId: 3n, barcode: '5' },
    { petId: 4n, barcode: 'LONG-AB' },
    { petId: 9n, barcode: '77777777' },
  ])
  const state = { categoryId: 1n, quantity: 1, status: 'available' as const }
  fillStock(
    stock,
    NAMES.map((name, index) => ({ petId: BigInt(index + 1), name, ...state })),
  )
  return stock
}

test('a barcode comes before an id, and a UPC is the same with and without its 0', () => {
  const stock = stocked()
  expect(petNamed(stock, ' 4006381333931 ')?.petId).toBe(1n)
  expect(petNamed(stock, '0036000291452')?.petId).toBe(2n)
  expect(petNamed(stock, '5')?.petId).toBe(3n)
  expect(petNamed(stock, '4')?.petId).toBe(4n)
  // Its pet is not in the stock.
  expect(petNamed(stock, '77777777')).toBeUndefined()
  stock.barcodes.take([{ petId: 1n, barcode: '11111111' }, { petId: 3n }])
  expect(petNamed(stock, '4006381333931')).toBeUndefined()
  expect(petNamed(stock, '11111111')?.petId).toBe(1n)
  expect(petNamed(stock, '5')?.petId).toBe(5n)
})

test('a text with the form of a barcode, whole or cut, is never an id', () => {
  const stock = stocked()
  stock.take([{ petId: 12_345_678n, name: 'Long', quantity: 1, status: 'available' }])
  for (const text of ['00000004', '000004', '04', '12345678']) {
    expect([text, petNamed(stock, text)]).toEqual([text, undefined])
  }
  // A person still finds it in the list of matches.
  expect(petsLike(stock, '12345678', 9).map(({ petId }) => petId)).toEqual([12_345_678n])
})

test('two pets swap their barcodes, and one that another pet has taken over is no more the first one’s', () => {
  const { barcodes } = stocked()
  barcodes.take([
    { petId: 1n, barcode: 'LONG-AB' },
    { petId: 4n, barcode: '4006381333931' },
  ])
  expect([barcodes.find('LONG-AB'), barcodes.find('4006381333931')]).toEqual([1n, 4n])
  barcodes.take([{ petId: 2n, barcode: 'LONG-AB' }])
  expect([barcodes.find('LONG-AB'), barcodes.byPet().get(1n), barcodes.find('036000291452')]).toEqual([
    2n,
    undefined,
    undefined,
  ])
  barcodes.take([{ petId: 1n }])
  expect(barcodes.find('LONG-AB')).toBe(2n)
})

test('names that begin so come first, and no more than asked for', () => {
  const stock = stocked()
  const found = (text: string, limit = 9) => petsLike(stock, text, limit).map(({ name }) => name)
  expect(found('gold')).toEqual(['Golden Hamster', 'Goldie', 'Zoë Gold'])
  expect(found('zoe gold')).toEqual(['Zoë Gold'])
  expect(found('gold', 2)).toEqual(['Golden Hamster', 'Goldie'])
  expect(found('5')).toEqual(['Marigold', 'Plain'])
  expect(found('  ')).toEqual([])
})

test('an amount is no barcode, a barcode is no amount, and what hands typed before a scan is told from it', () => {
  const stock = stocked()
  const read = (text: string) => {
    const scanned = scannedIn(stock, text)
    return scanned === undefined ? undefined : [scanned.before, scanned.barcode]
  }
  expect(read('4006381333931')).toEqual(['', '4006381333931'])
  expect(read('12345678')).toEqual(['', '12345678'])
  expect(read('124006381333931')).toEqual(['12', '4006381333931'])
  expect(read('74006381333931')).toEqual(['7', '4006381333931'])
  expect(read('gol4006381333931 ')).toEqual(['gol', '4006381333931'])
  expect(read('5LONG-AB')).toEqual(['5', 'LONG-AB'])
  for (const text of ['5', '1 000', '120', '1234567', '', 'AB-7', '9007199254740990']) {
    expect([text, read(text)]).toEqual([text, undefined])
  }
})
