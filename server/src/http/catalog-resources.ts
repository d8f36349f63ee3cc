import Type from 'typebox'
import { MAX_BARCODE_LENGTH, MAX_NAME_LENGTH } from '../core/catalog/catalog-rules.ts'
import { PET_CHANGES } from '../core/stock/stock-event.ts'
import { HistoryEntry, Int64, Pet, PetStatus, Quantity } from './resources.ts'

const Name = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    description: `${description} Without control characters.`,
  })
const Barcode = Type.String({
  ...{ minLength: 1, maxLength: MAX_BARCODE_LENGTH, pattern: '^[\\x21-\\x7e]+$' },
  description: 'Its barcode: visible ASCII characters. No other pet has it.',
})
const Threshold = Quantity('It is low with so many available or fewer.')

const PET_FIELDS = {
  name: Name('What the pet is called.'),
  categoryId: Int64('The category it belongs to; it must be there.'),
  status: Type.Optional(PetStatus),
}

export const NewPet = Type.Object(
  {
    ...PET_FIELDS,
    quantity: Type.Optional(Quantity('How many are on the shelf; 0 where it is not given.')),
    barcode: Type.Optional(Barcode),
    lowStockAt: Type.Optional(Threshold),
    id: Type.Optional(Int64('Its identifier; one that nothing has is chosen where it is not given.')),
  },
  {
    title: 'NewPet',
    description: 'The status is available where it is not given. Other fields are ignored.',
    examples: [{ name: 'Biscuit', categoryId: 1, quantity: 12, barcode: '4006381333931', lowStockAt: 3 }],
  },
)

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const PetUpdate = Type.Object(
  {
    name: Type.Optional(PET_FIELDS.name),
    categoryId: Type.Optional(PET_FIELDS.categoryId),
    status: Type.Optional(PetStatus),
    barcode: Type.Optional(nullable(Barcode)),
    lowStockAt: Type.Optional(nullable(Threshold)),
  },
  {
    title: 'PetUpdate',
    description:
      'At least one of these; null takes a barcode or a threshold away. Other fields are ignored: the quantity has operations of its own.',
    examples: [{ name: 'Biscuit', lowStockAt: null }],
  },
)

export const Category = Type.Object(
  {
    id: Int64('Identifier of the category.'),
    name: Name('What the category is called.'),
    lowStockAt: Type.Optional(
      Quantity('Its pets are low with so many available or fewer, unless they say otherwise.'),
    ),
  },
  { title: 'Category', examples: [{ id: 1, name: 'Dogs', lowStockAt: 3 }] },
)

export const NewCategory = Type.Object(
  {
    name: Category.properties.name,
    lowStockAt: Category.properties.lowStockAt,
    id: Type.Optional(Int64('Its identifier; one that nothing has is chosen where it is not given.')),
  },
  {
    title: 'NewCategory',
    description: 'Other fields are ignored.',
    examples: [{ name: 'Dogs', lowStockAt: 3 }],
  },
)

export const CategoryUpdate = Type.Object(
  {
    name: Type.Optional(Category.properties.name),
    lowStockAt: Type.Optional(nullable(Threshold)),
  },
  {
    title: 'CategoryUpdate',
    description: 'At least one of these; null takes the threshold away. Other fields are ignored.',
    examples: [{ name: 'Dogs', lowStockAt: 5 }],
  },
)

const BY = { at: HistoryEntry.properties.at, keyId: HistoryEntry.properties.keyId }

export const PetEvent = Type.Object(
  {
    change: Type.Enum([...PET_CHANGES], { type: 'string', description: 'What happened to the pet.' }),
    petId: Int64('The pet.'),
    name: Pet.properties.name,
    categoryId: Pet.properties.categoryId,
    status: PetStatus,
    quantity: Quantity('How many are on the shelf.'),
    barcode: Type.Optional(Barcode),
    lowStockAt: Type.Optional(Threshold),
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
