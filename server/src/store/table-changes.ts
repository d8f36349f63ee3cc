import type { ImportableDecision } from '../core/stock/decide.ts'
import { COPIED_TABLES, type TableName } from '../core/transfer/copy.ts'
import { petValues } from './catalog-rows.ts'
import { entryValues, logValues } from './log-rows.ts'
import { orderLineValues, orderValues } from './order-rows.ts'
import type { Columns, SqlValue } from './sql.ts'

type Row = readonly SqlValue[]

/**
 * The rows of a table that a commit writes. Values are in the order of the columns; the first column is the key. Rows are removed
 * before others are added.
 */
export interface TableChange {
  readonly table: TableName
  readonly columns: Columns
  readonly key: string
  /** Values of this column are unique. They are cleared in `removed` and `changed` rows first, because rows may swap them. */
  readonly unique?: string
  /** Changed rows keep the values of these columns. Writing an indexed column costs several times as much as the others. */
  readonly kept?: readonly string[]
  readonly added: readonly Row[]
  readonly changed: readonly Row[]
  readonly removed: readonly bigint[]
}

/** What a decision writes, in the order in which it must be written. The log rows get the ids from `firstLogId` on. */
export function tableChanges(decision: ImportableDecision, firstLogId: bigint): TableChange[] {
  const { records, entries, orders, catalog } = decision
  const log = records.map((record, index) => logValues(record, firstLogId + BigInt(index)))
  const changes: TableChange[] = []
  if (catalog !== undefined && catalog.pets.size > 0) changes.push(petChanges(catalog.pets, entries))
  if (entries.size > 0) changes.push(entryChanges(entries, catalog?.pets.size === 0 || catalog === undefined))
  if (orders !== undefined && orders.added.length + orders.changed.length > 0) {
    const { added, changed } = orders
    changes.push({
      ...tableOf('orders'),
      added: added.map(orderValues),
      changed: changed.map(orderValues),
      removed: [],
    })
    // A changed order gets new lines.
    changes.push({
      ...tableOf('order_lines', 'order_id'),
      added: [...added, ...changed].flatMap(orderLineValues),
      changed: [],
      removed: changed.map(({ id }) => id),
    })
  }
  if (log.length > 0) changes.push({ ...tableOf('log'), added: log, changed: [], removed: [] })
  return changes
}

function petChanges(
  pets: NonNullable<ImportableDecision['catalog']>['pets'],
  entries: ImportableDecision['entries'],
): TableChange {
  const added: Row[] = []
  const changed: Row[] = []
  const removed: bigint[] = []
  for (const [id, pet] of byKey(pets)) {
    const isNew = entries.get(id)?.isNew === true
    if (pet !== undefined) (isNew ? added : changed).push(petValues(pet))
    else if (!isNew) removed.push(id)
  }
  return { ...tableOf('pets'), unique: 'barcode', added, changed, removed }
}

/** The entry of a removed pet is removed with the pet. Only a change of a pet changes its status. */
function entryChanges(entries: ImportableDecision['entries'], keepsStatus: boolean): TableChange {
  const added: Row[] = []
  const changed: Row[] = []
  for (const [petId, { entry, isNew }] of byKey(entries)) {
    if (entry !== undefined) (isNew ? added : changed).push(entryValues(petId, entry))
  }
  const kept = keepsStatus ? { kept: ['status'] } : {}
  return { ...tableOf('stock', 'pet_id'), ...kept, added, changed, removed: [] }
}

/** In the order of the ids, so that two commits that add the same rows do not deadlock. */
function byKey<Value>(map: ReadonlyMap<bigint, Value>): (readonly [bigint, Value])[] {
  return map.size > 1 ? [...map].sort(([one], [other]) => (one < other ? -1 : 1)) : [...map]
}

function tableOf(table: TableName, key = 'id') {
  return { table, columns: COPIED_TABLES[table] as Columns, key }
}
