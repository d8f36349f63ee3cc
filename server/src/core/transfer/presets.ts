import { quote } from '../values/field.ts'
import { BadFile, type Header, readRows } from './csv.ts'
import { type ColumnMapping, checkMapping, columnKey } from './files.ts'
import type { FieldText, RawRow, RowKind } from './rows.ts'

/** How the export of another system becomes rows of pets. The columns are named as in its documentation; `*` is a location. */
interface Preset {
  /** Names a product. Its name and category may be in its first row only. If the cell is blank, the row is a product. */
  readonly product: readonly string[]
  /** Rows of a product with the same texts here are one pet, whose quantities are added. */
  readonly variant: readonly string[]
  /** The variant of a product without variants. It is no part of the pet's name. */
  readonly onlyVariant: string
  /** The columns that a column of pets is read from: the first that is not blank. Those of several locations are added. */
  readonly columns: Readonly<Record<string, readonly string[]>>
}

export const PRESETS = {
  /**
   * Products (help.shopify.com/en/manual/products/import-export/using-csv), whose headers were renamed, such as Variant SKU to
   * SKU; further rows of a product may have an image only. Inventory
   * (help.shopify.com/en/manual/products/inventory/getting-started-with-inventory/inventory-csv): a row for each location.
   */
  shopify: {
    product: ['Handle', 'URL handle'],
    variant: ['Option1 Value', 'Option2 Value', 'Option3 Value'],
    onlyVariant: 'Default Title',
    columns: {
      name: ['Title'],
      category: ['Type', 'Product Category'],
      barcode: ['Variant Barcode', 'Barcode', 'Variant SKU', 'SKU'],
      quantity: ['On hand (current)', 'On hand', 'Variant Inventory Qty', 'Inventory quantity'],
    },
  },
  /** The item library (squareup.com/help/us/en/article/8211-item-import-spreadsheet-glossary): a column for each location. */
  square: {
    product: ['Token'],
    variant: ['Variation Name'],
    onlyVariant: 'Regular',
    columns: {
      name: ['Item Name'],
      category: ['Reporting Category', 'Categories', 'Category'],
      barcode: ['GTIN', 'SKU'],
      quantity: ['Current Quantity *'],
      lowStockAt: ['Stock Alert Count *'],
    },
  },
} as const satisfies Readonly<Record<string, Preset>>

export type PresetName = keyof typeof PRESETS
/** The cast is needed because Object.keys returns strings. */
export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[]

/** The category of new pets whose row has none. */
export const PRESET_CATEGORY = 'Uncategorized'

/** For each name, the indexes of its columns in a header. */
type Places = readonly (readonly number[])[]

type PresetPlaces = ReturnType<typeof matchPreset>

/** Finds the columns of an export. A mapped column replaces those of the preset. Throws `BadFile` if it is another file. */
export function matchPreset(
  { names }: Pick<Header, 'names'>,
  presetName: PresetName,
  { columns, plural }: Pick<RowKind<object>, 'columns' | 'plural'>,
  mapping: ColumnMapping = new Map(),
) {
  const preset: Preset = PRESETS[presetName]
  const known = columns.map(({ name }) => name)
  checkMapping(names, known, plural, mapping)
  const keys = names.map(columnKey)
  const placesOf = (wanted: readonly string[]): Places =>
    wanted.map((name) => {
      const key = columnKey(name.replace('*', ''))
      const isWanted = (other: string) => (name.endsWith('*') ? other.startsWith(key) : other === key)
      return [...keys.keys()].filter((index) => isWanted(keys[index] ?? ''))
    })
  const mapped = Object.fromEntries(Array.from(mapping, ([name, column]) => [column, [name]]))
  const sources: Preset['columns'] = { ...preset.columns, ...mapped }
  const places = {
    product: placesOf(preset.product),
    variant: placesOf(preset.variant),
    columns: new Map(known.map((column) => [column, placesOf(sources[column] ?? [])])),
  }
  if (places.columns.get('name')?.flat().length === 0) {
    throw new BadFile(
      `the header ${quote(names.join())} lacks ${preset.columns.name?.join()}, so it is not an export of ${presetName}`,
    )
  }
  const used = new Set([places.product, places.variant, ...places.columns.values()].flat(2))
  const ignored = names.filter((_, index) => !used.has(index)).map(quote)
  return { ...places, onlyVariant: preset.onlyVariant, ignored }
}

/** Reads the pets of an export in batches. Their fields are in the order of the columns of pets. */
export function* readPreset(text: string, header: Header, places: PresetPlaces): Generator<RawRow[]> {
  const pets = new PresetPets(places)
  for (const rows of readRows(text, header)) {
    const unreadable: RawRow[] = []
    for (const row of rows) {
      if ('reason' in row) unreadable.push(row)
      else pets.add(row.line, row.fields)
    }
    yield unreadable
  }
  yield* pets.batches()
}

const PETS_PER_BATCH = 1_000

interface PresetPet {
  readonly line: number
  readonly fields: ReadonlyMap<string, string>
  readonly quantities: string[]
}

/** The pets of an export, put together from its rows. */
class PresetPets {
  readonly #places: PresetPlaces
  /** The fields of the first row of each product. */
  readonly #products = new Map<string, ReadonlyMap<string, string>>()
  readonly #pets = new Map<string, PresetPet>()

  constructor(places: PresetPlaces) {
    this.#places = places
  }

  add(line: number, cells: readonly FieldText[]): void {
    const { product: productPlaces, variant: variantPlaces, columns, onlyVariant } = this.#places
    const textsIn = (places: Places) =>
      places.map((indexes) => indexes.map((index) => cells[index]?.trim() ?? '').filter(isGiven))
    const firstIn = (places: Places) => textsIn(places).find((texts) => texts.length > 0) ?? []
    const product = firstIn(productPlaces)[0] ?? `line ${line}`
    const variant = textsIn(variantPlaces).flat()
    const first = this.#products.get(product)
    // Such a row has only a further image of the product.
    if (first !== undefined && variant.length === 0) return
    const key = JSON.stringify([product, ...variant])
    const quantities = firstIn(columns.get('quantity') ?? [])
    const known = this.#pets.get(key)
    if (known !== undefined) {
      known.quantities.push(...quantities)
      return
    }
    const fields = new Map<string, string>()
    for (const [column, places] of columns) {
      const inherited = column === 'name' || column === 'category' ? first?.get(column) : undefined
      const text = sumOf(firstIn(places)) ?? inherited
      if (text !== undefined) fields.set(column, column === 'category' ? categoryName(text) : text)
    }
    if (first === undefined) this.#products.set(product, new Map(fields))
    const name = fields.get('name')
    if (name !== undefined) {
      fields.set('name', [name, ...variant.filter((each) => each !== onlyVariant)].join(', '))
    }
    this.#pets.set(key, { line, fields, quantities })
  }

  *batches(): Generator<RawRow[]> {
    let batch: RawRow[] = []
    for (const { line, fields, quantities } of this.#pets.values()) {
      const textOf = (column: string) => (column === 'quantity' ? sumOf(quantities) : fields.get(column))
      batch.push({ line, fields: Array.from(this.#places.columns.keys(), textOf) })
      if (batch.length < PETS_PER_BATCH) continue
      yield batch
      batch = []
    }
    yield batch
  }
}

/** Shopify writes `not stocked` for a location that never has the product. */
function isGiven(text: string): boolean {
  return text !== '' && text.toLowerCase() !== 'not stocked'
}

/** The sum of whole numbers. One text is returned as it is; the row is refused if several have another text. */
function sumOf(texts: readonly string[]): string | undefined {
  if (texts.length < 2) return texts[0]
  const areWhole = texts.every((text) => /^-?\d+$/.test(text))
  return areWhole ? String(texts.reduce((sum, text) => sum + BigInt(text), 0n)) : texts.join(' + ')
}

const SQUARE_TOKEN = /^(?<name>.+?) \([A-Z0-9]{24}\)(?:, |$)/

/** The first of several categories, without its token and without the categories that it is part of. */
function categoryName(text: string): string {
  const name = SQUARE_TOKEN.exec(text)?.groups?.name ?? text
  return name.split(' > ').at(-1) ?? name
}
