import type { AdjustmentChange, AdjustmentResult } from './contract-types.ts'
import { type EventOptions, followEvents, type InventoryEvent } from './events.ts'
import type { IdInput, Input } from './ids.ts'
import type { CallOptions, WriteOptions } from './options.ts'
import type { Api } from './request.ts'
import { inventoryMethods, type ListRecentChangesQuery, type SearchInventoryQuery } from './resources.ts'

/** Units of one pet. */
export interface StockLine {
  readonly petId: IdInput
  readonly quantity: number
}

/** A counted quantity; with `expected`, it is only set if that is the current quantity. */
export interface CountLine extends StockLine {
  readonly expected?: number | undefined
}

export interface BookingOptions extends WriteOptions {
  /** The receipt, delivery note or list that the lines belong to; up to 200 characters. */
  readonly reference?: string | undefined
}

export type InventorySearch = Omit<SearchInventoryQuery, 'limit' | 'cursor'>
export type ChangeFilter = Omit<ListRecentChangesQuery, 'limit' | 'cursor'>

export type Inventory = ReturnType<typeof createInventory>

/** The stock: entries, changes, history and events. */
export function createInventory(api: Api) {
  const methods = inventoryMethods(api)

  async function book<Line extends StockLine>(
    purpose: Pick<Parameters<typeof methods.adjust>[0], 'reason' | 'keepReserved'>,
    lines: Line | readonly Line[],
    { reference, ...options }: BookingOptions,
    changeOf: (line: Line) => Input<AdjustmentChange>,
  ): Promise<AdjustmentResult> {
    const changes = [lines].flat().map((line) => changeOf(line as Line))
    return methods.adjust({ ...purpose, reference, changes }, options)
  }

  return {
    ...methods,

    /** Takes units that were sold. Throws `insufficient_stock` rather than taking units that open orders reserve. */
    sell: (
      lines: StockLine | readonly StockLine[],
      options: BookingOptions = {},
    ): Promise<AdjustmentResult> =>
      book({ reason: 'sold', keepReserved: true }, lines, options, ({ petId, quantity }) => ({
        petId,
        delta: -units(quantity),
      })),

    /** Adds units that were delivered. */
    receive: (
      lines: StockLine | readonly StockLine[],
      options: BookingOptions = {},
    ): Promise<AdjustmentResult> =>
      book({ reason: 'received' }, lines, options, ({ petId, quantity }) => ({
        petId,
        delta: units(quantity),
      })),

    /** Sets quantities that were counted. Throws `precondition_failed` if `expected` does not match. */
    count: (
      lines: CountLine | readonly CountLine[],
      options: BookingOptions = {},
    ): Promise<AdjustmentResult> =>
      book({ reason: 'counted' }, lines, options, ({ petId, quantity, expected }) => ({
        petId,
        quantity,
        expected,
      })),

    /** The pets that a search finds, as a CSV file that `imports.file` reads. */
    searchCsv: (query: InventorySearch & CallOptions = {}): Promise<string> =>
      api.csv('/inventory/search', query),

    /**
     * The changes as they happen, each exactly once. It reconnects and resumes by itself. `ready` marks the beginning
     * of the stream; after `relist`, events were missed: read the list again.
     */
    events: (options: EventOptions = {}): AsyncIterable<InventoryEvent> =>
      followEvents(api.transport, options),
  }
}

function units(quantity: number): number {
  if (quantity > 0) return quantity
  throw new RangeError(`quantity must be at least 1, got ${quantity}`)
}
