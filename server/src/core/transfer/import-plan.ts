import { nameKey } from '../catalog/catalog-fields.ts'
import type { CatalogStore } from '../catalog/catalog-store.ts'
import {
  CATEGORY,
  type Category,
  type CategoryPatch,
  defaultCategoryName,
  nameTaken,
} from '../catalog/category.ts'
import type { PetUpsert, StockedPet } from '../catalog/pet.ts'
import { type FileOrder, MAX_LINES_PER_ORDER, ORDER_ROW, type OrderRow } from '../orders/order.ts'
import type { ChangeOrigin } from '../stock/change-origin.ts'
import { type Command, type CommandOf, MAX_CHANGES, type OutcomeOf } from '../stock/command.ts'
import { isSameRecord, withUpdate } from '../values/field.ts'
import {
  categoryFinder,
  type FileCategory,
  type FileCount,
  type FilePet,
  type RefusedLine,
  type RowCategory,
  rowOrReason,
} from './rows.ts'
import type { TransferStore } from './transfer-store.ts'

export interface StagedRow<Value> {
  readonly line: number
  readonly value: Value
}

export interface PlanOptions {
  /** Whether the caller may set the stock of pets. */
  readonly canChangeStock: boolean
  readonly origin: ChangeOrigin
  /** The category of new pets whose rows have none. */
  readonly defaultCategory?: string | undefined
  /** The categories after the earlier files of the import. If absent, those of the store. */
  readonly categories?: readonly Category[] | undefined
  /** Called between two steps. If it throws, nothing is changed. */
  readonly onStep: (phase: 'reading' | 'comparing' | 'writing', rows: number, total?: number) => void
}

export interface ImportCounts {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}

/** Decides commands in the transaction of the import. `rows` is how many rows of the file they write. */
export type WriteStep = <C extends Command>(
  commands: readonly C[],
  rows: number,
) => Promise<readonly OutcomeOf<C['type']>[]>

/** An import that was compared with the store. */
export interface ImportPlan {
  /** Rows that contradict each other. If there are any, `write` is not called. */
  readonly refused: readonly RefusedLine[]
  /** How many rows differ from the store. */
  readonly total: number
  write(
    step: WriteStep,
  ): Promise<Pick<ImportCounts, 'added' | 'changed'> & { readonly refused: readonly RefusedLine[] }>
  /** The categories whose threshold may change. */
  readonly thresholds?: readonly bigint[]
  /** The categories after the import, but without new ones that have no id yet. Absent if it is not a file of categories. */
  readonly categories?: readonly Category[]
}

/** Each category that a command names locks the whole catalogue, and a decision about a name reads all names. */
const CATEGORIES_PER_STEP = 100

interface PetChange {
  readonly line: number
  readonly pet: PetUpsert
  readonly isNew: boolean
  /** The name of the pet's category, which has no id yet. */
  readonly newCategory?: string
}

/** A row without an id changes the pet that has its barcode, or else creates a pet. */
export async function planPets(
  rows: readonly StagedRow<FilePet>[],
  store: TransferStore & Pick<CatalogStore, 'listCategories'>,
  { origin, canChangeStock, categories, defaultCategory, onStep }: PlanOptions,
): Promise<ImportPlan> {
  const findCategory = categoryFinder(categories ?? (await readCategories(store)))
  const newCategories = new NewCategories()
  const lines = new UsedLines()
  const refused: RefusedLine[] = []
  const changes: PetChange[] = []
  const takenBarcodes = new Map<bigint, string>()
  await matchPets(rows, store, onStep, ({ line, value }, stored, owner) => {
    const missingCategory = stored === undefined ? defaultCategory : undefined
    const category = rowOrReason(line, () => findRowCategory(value, missingCategory, findCategory))
    const id = value.id ?? owner
    const duplicate = lines.use(line, 'pet', id) ?? lines.use(line, 'barcode', value.barcode ?? undefined)
    if (duplicate !== undefined || (category !== undefined && 'reason' in category)) {
      refused.push(duplicate ?? (category as RefusedLine))
      return
    }
    const pet = petOf(value, id, category?.id ?? value.categoryId)
    const newCategory = category?.type === 'new' ? newCategories.add(line, category) : undefined
    if (stored !== undefined && newCategory === undefined && isUnchanged(stored, pet)) return
    if (owner !== undefined && owner !== id && value.barcode != null) takenBarcodes.set(owner, value.barcode)
    changes.push({
      line,
      pet,
      isNew: stored === undefined,
      ...(newCategory === undefined ? {} : { newCategory }),
    })
  })
  // The pets of a step are locked in the order of their ids, and so are those of all steps.
  changes.sort((one, other) => compareIds(one.pet.id, other.pet.id))
  return {
    refused,
    total: changes.length,
    write: async (step) => {
      const created = await newCategories.write(step, origin)
      const failures = [...created.refused]
      let added = 0
      for (const releases of chunks(barcodeReleases(changes, takenBarcodes), MAX_CHANGES)) {
        await step([{ type: 'upsert_pets', canChangeStock, pets: releases, ...origin }], 0)
      }
      for (const part of chunks(changes, MAX_CHANGES)) {
        const pets = part.map(({ pet, newCategory }) => {
          const categoryId = newCategory === undefined ? undefined : created.ids.get(nameKey(newCategory))
          return categoryId === undefined ? pet : { ...pet, categoryId }
        })
        const [result] = await step([{ type: 'upsert_pets', canChangeStock, pets, ...origin }], part.length)
        if (result?.type === 'done') added += result.created
        failures.push(...failedLines(result, part))
      }
      return { added, changed: changes.length - added, refused: failures }
    },
  }
}

/** Pets of one step may swap their barcodes. If a pet gets the barcode of a pet of another step, that pet gives it up first. */
function barcodeReleases(
  changes: readonly PetChange[],
  takenBarcodes: ReadonlyMap<bigint, string>,
): PetUpsert[] {
  if (takenBarcodes.size === 0 || changes.length <= MAX_CHANGES) return []
  return changes.flatMap(({ pet: { id, barcode } }) => {
    const givesUp = id !== undefined && barcode !== undefined && barcode !== takenBarcodes.get(id)
    return givesUp && takenBarcodes.has(id) ? [{ id, barcode: null }] : []
  })
}

/** The pet of a row. Most rows are such a pet already, and a copy of each would take memory. */
function petOf(row: FilePet, id: bigint | undefined, categoryId: bigint | undefined): PetUpsert {
  if (row.category === undefined && row.id === id && row.categoryId === categoryId) return row
  const { category: _, ...fields } = row
  return {
    ...fields,
    ...(id === undefined ? {} : { id }),
    ...(categoryId === undefined ? {} : { categoryId }),
  }
}

function findRowCategory(
  row: FilePet,
  missingCategory: string | undefined,
  findCategory: ReturnType<typeof categoryFinder>,
): RowCategory | undefined {
  if (row.categoryId !== undefined || row.category !== undefined) return findCategory(row)
  // An existing pet keeps its category, and the command refuses a new pet without one.
  return missingCategory === undefined ? undefined : findCategory({ category: missingCategory })
}

function isUnchanged(stored: StockedPet, pet: PetUpsert): boolean {
  const before: Readonly<Record<string, unknown>> = stored
  return Object.entries(pet).every(
    ([name, value]) => value === undefined || (value ?? undefined) === before[name],
  )
}

/** The categories that rows of a file name and that do not exist yet. */
class NewCategories {
  readonly #byId = new Map<bigint, { line: number; name: string | undefined }>()
  readonly #byName = new Map<string, { readonly line: number; readonly name: string }>()

  /** Returns the name of the category if it has no id yet. */
  add(line: number, { id, name }: Pick<RowCategory & { type: 'new' }, 'id' | 'name'>): string | undefined {
    if (id !== undefined) {
      const known = this.#byId.get(id)
      if (known === undefined) this.#byId.set(id, { line, name })
      else known.name ??= name
      return undefined
    }
    if (name !== undefined && !this.#byName.has(nameKey(name)))
      this.#byName.set(nameKey(name), { line, name })
    return name
  }

  /** Creates the categories. Returns the ids of those without an id in the file, by the keys of their names. */
  async write(
    step: WriteStep,
    origin: ChangeOrigin,
  ): Promise<{ readonly ids: ReadonlyMap<string, bigint>; readonly refused: readonly RefusedLine[] }> {
    const ids = new Map<string, bigint>()
    const wanted: { line: number; category: Omit<Category, 'id'> & { id?: bigint } }[] = []
    for (const [id, { line, name = defaultCategoryName(id) }] of this.#byId) {
      wanted.push({ line, category: { id, name } })
      ids.set(nameKey(name), id)
    }
    for (const [key, { line, name }] of this.#byName)
      if (!ids.has(key)) wanted.push({ line, category: { name } })
    const refused: RefusedLine[] = []
    for (const part of chunks(wanted, CATEGORIES_PER_STEP)) {
      const commands = part.map(({ category }) => ({ type: 'create_category', category, ...origin }) as const)
      for (const [index, result] of (await step(commands, 0)).entries()) {
        const { line, category } = part[index] ?? {}
        if (line === undefined || category === undefined) continue
        if (result.type === 'done' && 'category' in result)
          ids.set(nameKey(category.name), result.category.id)
        // An earlier file of the import, or another caller, has created the category meanwhile.
        if (result.type === 'category_name_taken' && category.id === undefined)
          ids.set(nameKey(category.name), result.owner.id)
        else refused.push(...refusedCategory(result, line))
      }
    }
    return { ids, refused }
  }
}

type CategoryCommand = CommandOf<'create_category' | 'update_category'>

function refusedCategory(
  result: OutcomeOf<'create_category' | 'update_category'> | undefined,
  line: number,
): RefusedLine[] {
  switch (result?.type) {
    case 'done':
      return []
    case 'category_name_taken':
      return [{ line, code: 'already_exists', reason: nameTaken(result.owner) }]
    default:
      return [
        { line, code: 'already_exists', reason: 'the category was changed during the import; try again' },
      ]
  }
}

export async function planCategories(
  rows: readonly StagedRow<FileCategory>[],
  store: Pick<CatalogStore, 'listCategories'>,
  { origin }: PlanOptions,
): Promise<ImportPlan> {
  const stored = await readCategories(store)
  const byId = new Map(stored.map((category) => [category.id, category]))
  const idsByName = new Map(stored.map(({ id, name }) => [nameKey(name), id]))
  const lines = new UsedLines()
  const refused: RefusedLine[] = []
  const changes: { readonly line: number; readonly command: CategoryCommand; readonly isNew: boolean }[] = []
  const thresholds: bigint[] = []
  const after = new Map(byId)
  for (const { line, value } of rows) {
    const { id = idsByName.get(nameKey(value.name)), ...fields } = value
    const duplicate = lines.use(line, 'category', id)
    if (duplicate !== undefined) {
      refused.push(duplicate)
      continue
    }
    const before = id === undefined ? undefined : byId.get(id)
    if (id === undefined || before === undefined) {
      const { lowStockAt, ...named } = fields
      const category = {
        ...named,
        ...(id === undefined ? {} : { id }),
        ...(lowStockAt == null ? {} : { lowStockAt }),
      }
      changes.push({ line, isNew: true, command: { type: 'create_category', category, ...origin } })
      if (id !== undefined) after.set(id, { id, ...named })
    } else if (!isSameRecord(CATEGORY, before, withUpdate(CATEGORY, before, fields))) {
      const patch: CategoryPatch = fields
      after.set(id, withUpdate(CATEGORY, before, fields))
      changes.push({
        line,
        isNew: false,
        command: { type: 'update_category', categoryId: id, patch, ...origin },
      })
      thresholds.push(id)
    }
  }
  return {
    refused,
    thresholds,
    categories: [...after.values()],
    total: changes.length,
    write: async (step) => {
      const failures: RefusedLine[] = []
      for (const part of chunks(changes, CATEGORIES_PER_STEP)) {
        const results = await step(
          part.map(({ command }) => command),
          part.length,
        )
        failures.push(...part.flatMap(({ line }, index) => refusedCategory(results[index], line)))
      }
      const added = changes.filter(({ isNew }) => isNew).length
      return { added, changed: changes.length - added, refused: failures }
    },
  }
}

interface StagedOrder {
  /** The line of its first row. */
  readonly line: number
  readonly order: FileOrder
}

/** The orders are decided in the order of their ids. */
export async function planOrders(
  rows: readonly StagedRow<OrderRow>[],
  _store: unknown,
  { origin, onStep }: PlanOptions,
): Promise<ImportPlan> {
  const rowsByOrder = new Map<bigint, StagedRow<OrderRow>[]>()
  for (const part of chunks(rows, MAX_CHANGES)) {
    for (const row of part) {
      const orderRows = rowsByOrder.get(row.value.id)
      if (orderRows === undefined) rowsByOrder.set(row.value.id, [row])
      else orderRows.push(row)
    }
    await nextTurn()
  }
  const refused: RefusedLine[] = []
  const orders: StagedOrder[] = []
  let compared = 0
  for (const part of chunks([...rowsByOrder.values()], MAX_CHANGES)) {
    for (const orderRows of part) {
      const order = toFileOrder(orderRows)
      if ('reason' in order) refused.push(order)
      else orders.push(order)
      compared += orderRows.length
    }
    onStep('comparing', compared, rows.length)
    await nextTurn()
  }
  orders.sort((one, other) => compareIds(one.order.id, other.order.id))
  return {
    refused,
    total: rows.length,
    write: async (step) => {
      const failures: RefusedLine[] = []
      const counts = { added: 0, changed: 0, unchanged: 0 }
      for (const part of chunks(orders, MAX_CHANGES / MAX_LINES_PER_ORDER)) {
        const commands = part.map(({ order }) => ({ type: 'import_order', order, ...origin }) as const)
        const rowCount = part.reduce((sum, { order }) => sum + order.lines.length, 0)
        for (const [index, result] of (await step(commands, rowCount)).entries()) {
          const { line = 0, order } = part[index] ?? {}
          if (result.type === 'done') counts[result.change] += order?.lines.length ?? 0
          else failures.push({ line, reason: result.reason })
        }
      }
      return { ...counts, refused: failures }
    },
  }
}

/** The order of all rows with one id, or the reason why a row contradicts the first of them. */
function toFileOrder(rows: readonly StagedRow<OrderRow>[]): StagedOrder | RefusedLine {
  const lines = new UsedLines()
  const [first] = rows
  if (first === undefined) throw new Error('an order of a file has at least one row')
  const { petId: _, quantity: __, ...fields } = first.value
  for (const [index, { line, value }] of rows.entries()) {
    if (index === MAX_LINES_PER_ORDER) {
      return { line, reason: `order ${value.id} has more than ${MAX_LINES_PER_ORDER} lines` }
    }
    const repeated = lines.use(line, `order ${value.id} with pet`, value.petId)
    if (repeated !== undefined) return repeated
    const different = ORDER_FIELDS.find((name) => fieldOf(value, name) !== fieldOf(fields, name))
    if (different !== undefined) {
      const reason = `${different} of order ${value.id} differs from line ${first.line}; all rows of an order have the same`
      return { line, reason }
    }
  }
  const orderLines = rows.map(({ value: { petId, quantity } }) => ({ petId, quantity }))
  return { line: first.line, order: { ...fields, lines: orderLines } }
}

const ORDER_FIELDS = Object.keys(ORDER_ROW).filter((name) => name !== 'petId' && name !== 'quantity')

function fieldOf(row: object, name: string): unknown {
  return (row as Readonly<Record<string, unknown>>)[name]
}

/** A count of the shelf, as adjustments with the reason `counted`. */
export async function planCount(
  rows: readonly StagedRow<FileCount>[],
  store: TransferStore,
  { origin, onStep }: PlanOptions,
): Promise<ImportPlan> {
  const lines = new UsedLines()
  const refused: RefusedLine[] = []
  const changes: { readonly line: number; readonly petId: bigint; readonly quantity: number }[] = []
  let changed = 0
  await matchPets(rows, store, onStep, ({ line, value }, stored, owner) => {
    const { quantity, barcode } = value
    const petId = value.id ?? owner
    const duplicate = lines.use(line, 'pet', petId)
    if (duplicate !== undefined) refused.push(duplicate)
    else if (petId !== undefined) changes.push({ line, petId, quantity })
    else if (barcode === undefined) refused.push({ line, reason: 'petId or barcode must name the pet' })
    else refused.push({ line, code: 'not_found', reason: `no pet has the barcode ${barcode}` })
    if (stored !== undefined && stored.quantity !== quantity) changed++
  })
  changes.sort((one, other) => compareIds(one.petId, other.petId))
  return {
    refused,
    total: changes.length,
    write: async (step) => {
      const failures: RefusedLine[] = []
      for (const part of chunks(changes, MAX_CHANGES)) {
        const counted = part.map(({ petId, quantity }) => ({ petId, quantity }))
        const command = { type: 'adjust', changes: counted, ...origin, reason: 'counted' } as const
        const [result] = await step([command], part.length)
        failures.push(...failedLines(result, part))
      }
      return { added: 0, changed, refused: failures }
    },
  }
}

/** Calls `visit` for each row with the pet that it names by its id or, without one, by its barcode, and with the barcode's owner. */
async function matchPets<Value extends { readonly id?: bigint; readonly barcode?: string | null }>(
  rows: readonly StagedRow<Value>[],
  store: Pick<TransferStore, 'findStockedPets'>,
  onStep: PlanOptions['onStep'],
  visit: (row: StagedRow<Value>, stored: StockedPet | undefined, owner: bigint | undefined) => void,
): Promise<void> {
  let compared = 0
  for (const part of chunks(rows, MAX_CHANGES)) {
    const ids = part.flatMap(({ value }) => value.id ?? [])
    const barcodes = part.flatMap(({ value }) => value.barcode ?? [])
    const pets = await store.findStockedPets(ids, barcodes)
    const byId = new Map(pets.map((pet) => [pet.id, pet]))
    const owners = new Map(pets.map(({ id, barcode }) => [barcode, id]))
    for (const row of part) {
      const { id, barcode } = row.value
      const owner = barcode == null ? undefined : owners.get(barcode)
      const petId = id ?? owner
      visit(row, petId === undefined ? undefined : byId.get(petId), owner)
    }
    compared += part.length
    onStep('comparing', compared, rows.length)
    await nextTurn()
  }
}

/** Which line of a file first used an id or a barcode. */
class UsedLines {
  readonly #lines = new Map<string, Map<bigint | string, number>>()

  /** Returns why the line is refused if an earlier line has used the value. */
  use(line: number, noun: string, value: bigint | string | undefined): RefusedLine | undefined {
    if (value === undefined) return undefined
    const lines = this.#lines.get(noun) ?? new Map<bigint | string, number>()
    this.#lines.set(noun, lines)
    const firstLine = lines.get(value)
    if (firstLine === undefined) lines.set(value, line)
    return firstLine === undefined
      ? undefined
      : { line, reason: `${noun} ${value} is already on line ${firstLine}` }
  }
}

function failedLines(
  result: OutcomeOf<'upsert_pets' | 'adjust'> | undefined,
  part: readonly { readonly line: number }[],
): RefusedLine[] {
  if (result?.type !== 'refused') return []
  return result.failures.map(({ index, code, message, petId }) => {
    // The message of `not_found` is for API callers: it names an operation.
    const reason = code === 'not_found' ? `there is no pet ${petId}` : message
    return { line: part[index]?.line ?? 0, code, reason, ...(petId === undefined ? {} : { petId }) }
  })
}

export async function readCategories(store: Pick<CatalogStore, 'listCategories'>): Promise<Category[]> {
  const categories: Category[] = []
  for (;;) {
    const page = await store.listCategories(categories.at(-1)?.id, MAX_CHANGES)
    categories.push(...page)
    if (page.length < MAX_CHANGES) return categories
  }
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/** Absent ids come last. */
function compareIds(one: bigint | undefined, other: bigint | undefined): number {
  if (one === other) return 0
  if (one === undefined || other === undefined) return one === undefined ? 1 : -1
  return one < other ? -1 : 1
}

export function nextTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
