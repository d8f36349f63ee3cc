import type { Command } from '../core/stock/command.ts'

/** What commands about the catalogue refer to, in addition to their pets. */
export interface CatalogReferences {
  readonly categories: readonly bigint[]
  readonly removedCategories: readonly bigint[]
  readonly barcodes: readonly string[]
  /** How many new ids pets may need. Each id that a caller chose may be one of the new ids, which is then skipped. */
  readonly newPets: number
  readonly newCategories: number
}

export function catalogReferencesOf(commands: readonly Command[]): CatalogReferences {
  const categories = new Set<bigint>()
  const removedCategories: bigint[] = []
  const barcodes = new Set<string>()
  let petsWithoutId = 0
  let petsWithId = 0
  let newCategories = 0
  for (const command of commands) {
    switch (command.type) {
      case 'create_pet': {
        const { id, categoryId, barcode } = command.draft
        categories.add(categoryId)
        if (barcode !== undefined) barcodes.add(barcode)
        if (id === undefined) petsWithoutId++
        else petsWithId++
        break
      }
      case 'update_pet': {
        const { categoryId, barcode } = command.patch
        if (categoryId !== undefined) categories.add(categoryId)
        if (typeof barcode === 'string') barcodes.add(barcode)
        break
      }
      case 'create_category':
        if (command.draft.id === undefined) newCategories++
        else categories.add(command.draft.id)
        break
      case 'update_category':
        categories.add(command.categoryId)
        break
      case 'remove_category':
        categories.add(command.categoryId)
        removedCategories.push(command.categoryId)
        break
    }
  }
  return {
    categories: [...categories],
    removedCategories,
    barcodes: [...barcodes],
    newPets: petsWithoutId === 0 ? 0 : petsWithoutId + petsWithId,
    newCategories,
  }
}

/** Whether a command changes a category, for which the whole catalogue has to be locked. */
export function changesCategories(commands: readonly Command[]): boolean {
  return commands.some(
    ({ type }) => type === 'create_category' || type === 'update_category' || type === 'remove_category',
  )
}
