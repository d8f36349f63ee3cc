import Type from 'typebox'
import { CATEGORY, CATEGORY_UPDATE, NEW_CATEGORY } from '../core/catalog/category.ts'
import { NEW_PET, PET, PET_UPDATE } from '../core/catalog/pet.ts'
import { PET_CHANGES } from '../core/stock/stock-event.ts'
import { Int64, Quantity } from '../core/values/field.ts'
import { HistoryEntry } from './resources.ts'

export const NewPet = Type.Object(NEW_PET, {
  title: 'NewPet',
  description: 'The status is available if it is absent. Other fields are ignored.',
  examples: [{ name: 'Biscuit', categoryId: 1, quantity: 12, barcode: '4006381333931', lowStockAt: 3 }],
})

export const PetUpdate = Type.Object(PET_UPDATE, {
  title: 'PetUpdate',
  description:
    'At least one of these; null removes a barcode or a threshold. Other fields are ignored: the quantity has operations of its own.',
  minProperties: 1,
  examples: [{ name: 'Biscuit', lowStockAt: null }],
})

export const Category = Type.Object(CATEGORY, {
  title: 'Category',
  examples: [{ id: 1, name: 'Dogs', lowStockAt: 3 }],
})

export const NewCategory = Type.Object(NEW_CATEGORY, {
  title: 'NewCategory',
  description: 'Other fields are ignored.',
  examples: [{ name: 'Dogs', lowStockAt: 3 }],
})

export const CategoryUpdate = Type.Object(CATEGORY_UPDATE, {
  title: 'CategoryUpdate',
  description: 'At least one of these; null removes the threshold. Other fields are ignored.',
  minProperties: 1,
  examples: [{ name: 'Dogs', lowStockAt: 5 }],
})

const { id: _, ...petFields } = PET
const BY = { at: HistoryEntry.properties.at, keyId: HistoryEntry.properties.keyId }

export const PetEvent = Type.Object(
  {
    change: Type.Enum([...PET_CHANGES], { type: 'string', description: 'What happened to the pet.' }),
    petId: Int64('The pet.'),
    ...petFields,
    quantity: Quantity('How many are on the shelf.'),
    ...BY,
  },
  { title: 'PetEvent', description: 'A pet as it was right after the change.' },
)

export const LowStockEvent = Type.Object(
  {
    petId: Int64('The pet.'),
    quantity: Quantity('How many are on the shelf.'),
    reserved: Quantity('How many of them open orders reserve.'),
    available: Type.Integer({ description: 'quantity less reserved.' }),
    lowStockAt: Type.Optional(
      Quantity('The threshold that counts for it; absent where it has none any more.'),
    ),
    ...BY,
  },
  { title: 'LowStockEvent', description: 'As it was right after the change that crossed the threshold.' },
)
