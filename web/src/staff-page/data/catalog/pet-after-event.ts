import type { InventoryEvent, SearchRow } from '@petstore/client'
import type { CategoryList } from './category-list.ts'

/** The row after an event; `undefined` if its pet was removed, the same object if the event does not concern it. */
export function afterEvent(
  row: SearchRow,
  event: InventoryEvent,
  { byId }: CategoryList,
): SearchRow | undefined {
  if (!('petId' in event) || event.petId !== row.petId) return row
  switch (event.type) {
    case 'removed':
      return undefined
    case 'change':
      return { ...row, quantity: event.after, status: event.status, available: event.after - row.reserved }
    case 'low':
    case 'recovered': {
      const { quantity, reserved, available } = event
      return withThreshold({ ...row, quantity, reserved, available }, event.lowStockAt)
    }
    case 'pet': {
      const { name, categoryId, status, quantity, barcode, lowStockAt: own } = event
      const { barcode: _, ownLowStockAt: __, ...rest } = row
      const changed = {
        ...rest,
        name,
        categoryId,
        status,
        quantity,
        available: quantity - row.reserved,
        ...(barcode === undefined ? {} : { barcode }),
        ...(own === undefined ? {} : { ownLowStockAt: own }),
      }
      return withThreshold(changed, own ?? byId.get(categoryId)?.lowStockAt)
    }
    default:
      return row
  }
}

function withThreshold(row: SearchRow, lowStockAt: number | undefined): SearchRow {
  const { lowStockAt: _, ...rest } = row
  return lowStockAt === undefined ? rest : { ...rest, lowStockAt }
}
