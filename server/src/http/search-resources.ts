import Type from 'typebox'
import { Barcode } from '../core/catalog/catalog-fields.ts'
import { Availability } from './order-resources.ts'
import { DateTime, Pet, Quantity } from './resources.ts'

export const SearchRow = Type.Object(
  {
    petId: Availability.properties.petId,
    name: Pet.properties.name,
    categoryId: Pet.properties.categoryId,
    status: Pet.properties.status,
    quantity: Availability.properties.quantity,
    reserved: Availability.properties.reserved,
    available: Availability.properties.available,
    barcode: Type.Optional(Barcode),
    lowStockAt: Type.Optional(
      Quantity('It is low with so many available or fewer: its own threshold, or that of its category.'),
    ),
    ownLowStockAt: Type.Optional(
      Quantity('Its own threshold, where it has one: what PATCH /pets/{petId} sets as lowStockAt.'),
    ),
    lowSince: Type.Optional(
      DateTime('While it is low: when it last became so, as far as the log goes back.'),
    ),
  },
  {
    title: 'SearchRow',
    examples: [
      {
        ...{ petId: 1, name: 'Biscuit', categoryId: 1, status: 'available' },
        ...{
          quantity: 12,
          reserved: 2,
          available: 10,
          barcode: '4006381333931',
          lowStockAt: 3,
          ownLowStockAt: 3,
        },
      },
    ],
  },
)
