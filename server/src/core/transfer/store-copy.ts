import { type InventoryItem, PET_STATUSES } from '../stock/inventory.ts'
import type { StockStore } from '../stock/stock-store.ts'
import { InventoryPages } from '../stock/view/inventory-pages.ts'
import { CONTENT_KINDS, type ContentBatch, type ContentCounts, type ContentKind } from './store-contents.ts'
import type { ContentStore } from './transfer-store.ts'

interface CopyOptions {
  readonly signal: AbortSignal
  readonly onProgress: (kind: ContentKind, rows: number, fraction: number) => void
}

type CopyTarget = ContentStore & Pick<StockStore, 'loadStock'>

/**
 * Moves everything into an empty store, and throws where the two do not agree at the end. `tag` is the ETag of the
 * stock, which is the same on both sides.
 */
export async function copyStore(
  from: ContentStore,
  to: CopyTarget,
  options: CopyOptions,
): Promise<{ readonly counts: ContentCounts; readonly tag: string }> {
  const already = await to.countContents()
  const full = CONTENT_KINDS.find((kind) => already[kind] > 0)
  if (full !== undefined) {
    throw new Error(
      `the store to copy to is not empty: it has ${already[full]} rows of ${full}; give a new one`,
    )
  }
  const expected = await from.countContents()
  const total = CONTENT_KINDS.reduce((sum, kind) => sum + expected[kind], 0)
  const counts = Object.fromEntries(CONTENT_KINDS.map((kind) => [kind, 0])) as Record<ContentKind, number>
  // What was read, and not what the source holds by the end: it may be in use.
  const pages = new InventoryPages()
  let done = 0

  async function* watched(): AsyncGenerator<ContentBatch> {
    for await (const batch of from.readContents()) {
      options.signal.throwIfAborted()
      if (batch.kind === 'stock') for (const row of batch.rows) pages.set(toItem(row))
      counts[batch.kind] += batch.rows.length
      done += batch.rows.length
      yield batch
      options.onProgress(batch.kind, counts[batch.kind], Math.min(1, done / Math.max(1, total)))
    }
    options.signal.throwIfAborted()
  }
  await to.writeContents(watched())

  const written = await to.countContents()
  for (const kind of CONTENT_KINDS) {
    if (written[kind] !== counts[kind]) {
      throw new Error(`${counts[kind]} rows of ${kind} were read, but ${written[kind]} are there now`)
    }
  }
  const [tag, copiedTag] = [pages.snapshot().tag, await tagOf(to)]
  if (tag !== copiedTag) throw new Error(`the stock was ${tag} and is ${copiedTag} now; do not use the copy`)
  return { counts, tag }
}

async function tagOf(store: CopyTarget): Promise<string> {
  const pages = new InventoryPages()
  await store.loadStock((items) => {
    for (const item of items) pages.set(item)
  })
  return pages.snapshot().tag
}

function toItem([petId, quantity, text]: ContentBatch['rows'][number]): InventoryItem {
  const status = PET_STATUSES.find((known) => known === text)
  if (typeof petId !== 'bigint' || status === undefined) throw new TypeError(`${petId} ${text} is no stock`)
  return { petId, quantity: Number(quantity), status }
}
