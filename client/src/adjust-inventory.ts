import type { HistoryEntry, InventoryItem } from './contract-types.ts'
import { callForValue } from './operation-call.ts'
import { isPetstoreError, PetstoreError } from './petstore-error.ts'
import type { Transport } from './transport.ts'
import { backOff } from './waiting.ts'

const FIRST_BACK_OFF_MS = 10
const LONGEST_BACK_OFF_MS = 1_000
/** The clocks of several instances differ by less than this. */
const CLOCK_TOLERANCE_MS = 2_000

interface Adjustment {
  readonly petId: bigint
  readonly delta: number
  readonly signal: AbortSignal | undefined
}

/**
 * Reads, computes, and writes only if nobody was faster; else begins anew, after a random pause so that many who
 * do the same get through. A change is never lost and never made twice: where the connection broke and the
 * history cannot tell whether it was made, it throws `outcome_unknown`.
 */
export async function adjustInventory(transport: Transport, adjustment: Adjustment): Promise<InventoryItem> {
  const { time, retry } = transport.settings
  const deadline = time.clock() + retry.deadlineMs
  let breaks = 0
  for (let conflicts = 0; ; conflicts++) {
    const seen = await read(transport, adjustment)
    const quantity = adjusted(seen.item, adjustment)
    if (quantity === seen.item.quantity) return seen.item
    try {
      return await write(transport, adjustment, quantity, seen.etag)
    } catch (error) {
      if (!isPetstoreError(error, 'precondition_failed')) {
        if (!isUncertain(error)) throw error
        await requireNotMade(transport, adjustment, seen, quantity, error)
        breaks++
      }
      if (breaks > retry.limit || time.clock() > deadline) throw error
    }
    const pause = backOff(conflicts, time.random, FIRST_BACK_OFF_MS, LONGEST_BACK_OFF_MS)
    await time.sleep(pause, adjustment.signal)
  }
}

interface Seen {
  readonly item: InventoryItem
  readonly etag: string
  /** By the clock of the service, where it tells. */
  readonly at: number
}

async function read(transport: Transport, { petId, signal }: Adjustment): Promise<Seen> {
  const { value, headers } = await callForValue(transport, 'getInventoryItem', { params: { petId }, signal })
  const date = Date.parse(headers.get('Date') ?? '')
  return {
    item: value,
    etag: headers.get('ETag') ?? '',
    at: Number.isNaN(date) ? transport.settings.time.clock() : date,
  }
}

/** Not repeatable: with the stock back where it was, a second one would be made as well. */
async function write(
  transport: Transport,
  { petId, signal }: Adjustment,
  quantity: number,
  etag: string,
): Promise<InventoryItem> {
  const input = {
    params: { petId },
    body: { quantity },
    headers: { 'If-Match': etag },
    signal,
    repeatable: false,
  }
  return (await callForValue(transport, 'updateInventory', input)).value
}

function adjusted({ petId, quantity }: InventoryItem, { delta }: Adjustment): number {
  const result = quantity + delta
  const request = `PATCH /inventory/${petId}`
  if (result < 0) {
    const what = `was not sent: ${quantity} are in stock, so ${-delta} cannot be taken`
    throw new PetstoreError('insufficient_stock', what, { request })
  }
  if (!Number.isSafeInteger(result)) {
    throw new RangeError(`${request} was not sent: ${quantity} and ${delta} more is too large for a quantity`)
  }
  return result
}

function isUncertain(error: unknown): boolean {
  return error instanceof PetstoreError && (error.code === 'connection_failed' || (error.status ?? 0) >= 500)
}

/**
 * Asks the history whether a change from this quantity to that one has been made since. None: it is safe to begin
 * anew. One: it may be this very change or that of another caller, which nobody can tell apart.
 */
async function requireNotMade(
  transport: Transport,
  { petId, signal }: Adjustment,
  { item, at }: Seen,
  quantity: number,
  cause: unknown,
): Promise<void> {
  const unknown = (why: string) =>
    new PetstoreError(
      'outcome_unknown',
      `broke off, and the change from ${item.quantity} to ${quantity} may have been made: ${why}; read the entry and its history, and decide`,
      { request: `PATCH /inventory/${petId}`, cause },
    )
  const input = { params: { petId }, query: { limit: 100 }, signal }
  const { value: entries } = await callForValue(transport, 'listInventoryHistory', input).catch(
    (error: unknown) => {
      throw error instanceof PetstoreError ? unknown('its history cannot be read') : error
    },
  )
  const isRecent = (entry: HistoryEntry) => Date.parse(entry.at) >= at - CLOCK_TOLERANCE_MS
  const found = entries.find(
    (entry) => isRecent(entry) && entry.before === item.quantity && entry.after === quantity,
  )
  const mayHideOlder = entries.length === 100 && entries.every(isRecent)
  if (found === undefined && !mayHideOlder) return
  throw unknown(
    found === undefined ? 'too much has changed since to tell' : `${found.keyName} made it at ${found.at}`,
  )
}
