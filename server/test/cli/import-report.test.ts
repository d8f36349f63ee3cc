import { expect, test } from 'bun:test'
import { dryRunReport } from '../../src/cli/import-report.ts'
import type { ImportedPet } from '../../src/core/catalog/pet.ts'
import { importedPetRowKind } from '../../src/core/transfer/rows.ts'

test('A dry run shows cleared values, and omits fields that the file does not have', () => {
  const pet: ImportedPet = { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold', quantity: 1 }
  const before = { ...pet, barcode: 'A1', lowStockAt: 3 }
  const report = dryRunReport<ImportedPet>(
    'pets.csv',
    {
      added: {
        count: 2,
        first: [
          { line: 2, value: pet },
          { line: 3, value: { ...pet, barcode: 'B2', lowStockAt: 0 } },
        ],
      },
      changed: {
        count: 2,
        first: [
          { line: 4, value: { ...pet, quantity: 2 }, before },
          { line: 5, value: { ...pet, barcode: null, lowStockAt: null }, before },
        ],
      },
      unchanged: 0,
    },
    { count: 0, first: [] },
    importedPetRowKind([]),
    { isAdjustment: false },
  )
  expect(report.split('\n').filter((line) => line.startsWith('  line'))).toEqual([
    '  line 2: pet 1: name "Rex", categoryId 1, status "sold", quantity 1',
    '  line 3: pet 1: name "Rex", categoryId 1, status "sold", quantity 1, barcode "B2", lowStockAt 0',
    '  line 4: pet 1: quantity 1 → 2',
    '  line 5: pet 1: barcode "A1" → none, lowStockAt 3 → none',
  ])
})
