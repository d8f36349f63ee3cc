import { CATEGORY } from '../catalog/category.ts'
import { PET } from '../catalog/pet.ts'
import { KEY_ROW, STORED_SECRET } from '../keys/api-key.ts'
import { ORDER } from '../orders/order.ts'
import { type InventoryItem, PET_STATUSES } from '../stock/inventory.ts'
import type { StockStore } from '../stock/stock-store.ts'
import { InventoryPages } from '../stock/view/inventory-pages.ts'
import { loadPages } from '../stock/view/live-view.ts'
import { columnsOf, type FieldCodec } from '../values/field.ts'

const { status: _, ...petFields } = PET

/** The tables that a copy transfers, with their columns. Each table comes after the tables that it refers to. */
export const COPIED_TABLES = {
  // The id of a new threshold that was not applied to all pets yet.
  categories: { ...columnsOf(CATEGORY), threshold_change: 'text' },
  pets: { ...columnsOf(petFields), words: 'text' },
  stock: {
    pet_id: 'integer',
    quantity: 'integer',
    status: 'text',
    reserved: 'integer',
    // The threshold that applies to the pet.
    low_at: 'integer',
    // The times of the pet's latest count and of its latest movement.
    counted_at: 'integer',
    moved_at: 'integer',
  },
  orders: { ...columnsOf(ORDER), hold_until: 'integer', customer_words: 'text' },
  order_lines: {
    order_id: 'integer',
    pet_id: 'integer',
    quantity: 'integer',
    state: 'text',
    hold_until: 'integer',
  },
  log: {
    id: 'integer',
    kind: 'text',
    pet_id: 'integer',
    before: 'integer',
    after: 'integer',
    status: 'text',
    at: 'integer',
    key_id: 'text',
    reason: 'text',
    reference: 'text',
    detail: 'text',
    document: 'integer',
    occurred_at: 'integer',
    delta: 'integer',
    counted: 'integer',
    effect: 'text',
    reserved: 'integer',
    order_id: 'integer',
    reverses: 'integer',
  },
  keys: columnsOf(KEY_ROW),
  key_secrets: { key_id: 'text', ...columnsOf(STORED_SECRET) },
  audit: { at: 'integer', actor: 'text', action: 'text', key_id: 'text', detail: 'text' },
  limit_windows: {
    key_id: 'text',
    minute_started_at: 'integer',
    minute_used: 'integer',
    minute_first_rejected_at: 'integer',
    minute_rejected: 'integer',
    day_started_at: 'integer',
    day_used: 'integer',
    day_first_rejected_at: 'integer',
    day_rejected: 'integer',
    last_used_at: 'integer',
    // The latest ban, which may have ended.
    ban_began_at: 'integer',
    ban_ends_at: 'integer',
  },
  idempotency: { key_id: 'text', key: 'text', fingerprint: 'text', answer: 'text', forget_at: 'integer' },
  webhooks: {
    id: 'integer',
    url: 'text',
    kinds: 'text',
    paused: 'boolean',
    created_at: 'integer',
    secret: 'text',
    old_secret: 'text',
    old_secret_until: 'integer',
    cursor: 'text',
    off_at: 'integer',
    off_reason: 'text',
    revision: 'integer',
    created_by: 'text',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>

export type ColumnType = FieldCodec['sql']
export type TableName = keyof typeof COPIED_TABLES
/** The cast is needed because Object.keys returns strings. */
export const TABLE_NAMES = Object.keys(COPIED_TABLES) as TableName[]

/** Integers of any size are `bigint`. */
export type ContentValue = bigint | string | boolean | null

/** Some rows of a table. The values are in the order of its columns. */
export interface ContentBatch {
  readonly table: TableName
  readonly rows: readonly (readonly ContentValue[])[]
}

export type ContentCounts = Readonly<Record<TableName, number>>

export function contentColumns(table: TableName): Readonly<Record<string, ColumnType>> {
  return COPIED_TABLES[table]
}

/** The tables whose rows get a generated id if the caller chooses none. */
export const GENERATED_ID_TABLES = ['orders', 'pets', 'categories'] as const
export type GeneratedIdTable = (typeof GENERATED_ID_TABLES)[number]

export interface ContentStore {
  countContents(): Promise<ContentCounts>
  /** The id that was generated last for each table. Its row may have been removed. */
  lastGeneratedIds(): Promise<Readonly<Record<GeneratedIdTable, bigint>>>
  /** Reads table by table, from one snapshot. */
  readContents(): AsyncIterable<ContentBatch>
  /** Writes the batches in one commit. The store must be empty. Later it generates only ids above those that the source generated. */
  writeContents(
    batches: AsyncIterable<ContentBatch>,
    source: Pick<ContentStore, 'lastGeneratedIds'>,
  ): Promise<void>
  /** Gives the database a new identity after a restore, which invalidates all cursors. */
  renewIdentity(): Promise<void>
}

interface CopyOptions {
  readonly signal: AbortSignal
  readonly onProgress: (table: TableName, rows: number, fraction: number) => void
}

/** Copies everything into an empty store, and throws if the copy differs. `tag` is the ETag of the stock in both stores. */
export async function copyStore(
  source: ContentStore,
  target: ContentStore & Pick<StockStore, 'loadStock'>,
  { signal, onProgress }: CopyOptions,
): Promise<{ readonly counts: ContentCounts; readonly tag: string }> {
  const existing = await target.countContents()
  const nonEmptyTable = TABLE_NAMES.find((table) => existing[table] > 0)
  if (nonEmptyTable !== undefined) {
    throw new Error(
      `the target store is not empty: it has ${existing[nonEmptyTable]} rows of ${nonEmptyTable}; name a new database`,
    )
  }
  const expected = await source.countContents()
  const total = TABLE_NAMES.reduce((sum, table) => sum + expected[table], 0)
  const counts = Object.fromEntries(TABLE_NAMES.map((table) => [table, 0])) as Record<TableName, number>
  // The expected stock. Built from the copied rows, because the source may change during the copy.
  const pages = new InventoryPages()
  let copiedRows = 0

  /** Counts the rows and reports the progress while the target takes the batches. */
  async function* countedBatches(): AsyncGenerator<ContentBatch> {
    for await (const batch of source.readContents()) {
      signal.throwIfAborted()
      if (batch.table === 'stock') for (const row of batch.rows) pages.set(toItem(row))
      counts[batch.table] += batch.rows.length
      copiedRows += batch.rows.length
      yield batch
      onProgress(batch.table, counts[batch.table], Math.min(1, copiedRows / Math.max(1, total)))
    }
    signal.throwIfAborted()
  }
  await target.writeContents(countedBatches(), source)

  const written = await target.countContents()
  for (const table of TABLE_NAMES) {
    if (written[table] !== counts[table]) {
      throw new Error(
        `the copy has ${written[table]} rows of ${table}, but ${counts[table]} were read; do not use the copy`,
      )
    }
  }
  const { tag } = pages.snapshot()
  const copied = await loadPages(target)
  const copiedTag = copied.pages.snapshot().tag
  if (tag !== copiedTag) {
    throw new Error(`the ETag of the copied stock is ${copiedTag}, expected ${tag}; do not use the copy`)
  }
  return { counts, tag }
}

function toItem([petId, quantity, statusText]: ContentBatch['rows'][number]): InventoryItem {
  if (typeof petId !== 'bigint') {
    throw new TypeError(`a stock row has the petId ${petId}, expected an integer`)
  }
  const status = PET_STATUSES.find((known) => known === statusText)
  if (status === undefined) {
    throw new TypeError(`the stock row of pet ${petId} has the unknown status ${statusText}`)
  }
  return { petId, quantity: Number(quantity), status }
}
