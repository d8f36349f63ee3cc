import { type CategoryList, categoryName } from '../data/catalog/category-list.ts'
import type { AddedLine, ChangedLine } from './import-plan.ts'

/** All fields of a new pet. */
export function addedWords(
  { id, categoryId, status, quantity, ...pet }: AddedLine['pet'],
  list: CategoryList,
) {
  const parts = [
    `id ${id}`,
    categoryName(list, categoryId),
    status,
    `${(quantity ?? 0).toLocaleString('en')} in stock`,
    pet.barcode === undefined ? '' : `barcode ${pet.barcode}`,
    pet.lowStockAt === undefined ? '' : `low at ${pet.lowStockAt.toLocaleString('en')}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** The fields of a pet that would change. */
export function changedWords({ update, quantity }: ChangedLine, list: CategoryList): string {
  const parts = [
    update.name === undefined ? '' : `name to ${update.name}`,
    update.categoryId === undefined ? '' : `category to ${categoryName(list, update.categoryId)}`,
    update.status === undefined ? '' : `status to ${update.status}`,
    update.barcode === undefined
      ? ''
      : update.barcode === null
        ? 'no barcode'
        : `barcode to ${update.barcode}`,
    update.lowStockAt === undefined ? '' : thresholdWords(update.lowStockAt),
    quantity === undefined
      ? ''
      : `quantity from ${quantity.expected.toLocaleString('en')} to ${quantity.quantity.toLocaleString('en')}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function thresholdWords(lowStockAt: number | null): string {
  return lowStockAt === null ? 'no threshold of its own' : `low at ${lowStockAt.toLocaleString('en')}`
}
