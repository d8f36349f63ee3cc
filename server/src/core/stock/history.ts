import Type from 'typebox'
import { DateTime, Int64, Quantity, type RecordOf } from '../values/field.ts'
import { RecordedReason, Reference } from './adjustment.ts'

/**
 * A change of a quantity. The commit that makes the change writes it to the log. Creating a pet changes its quantity from 0,
 * and removing it changes the quantity to 0.
 */
export const HISTORY_ENTRY = {
  petId: Int64('The pet whose stock changed.'),
  /** Unique among the changes of the pet. */
  id: Type.String({ description: 'Identifies the change; opaque.' }),
  before: Quantity('The quantity before the change.'),
  after: Quantity('The quantity after the change.'),
  adjustmentId: Type.Optional(
    Int64(
      'The adjustment that the change belongs to; absent if an older version of the service made the change.',
    ),
  ),
  at: DateTime('When the change was recorded, in UTC.'),
  occurredAt: DateTime('When the change happened on the shelf, in UTC.'),
  keyId: Type.String({ description: 'Public identifier of the API key that made the change.' }),
  keyName: Type.String({ description: 'Name of that key, or its identifier if the key no longer exists.' }),
  reason: Type.Optional(RecordedReason),
  reference: Type.Optional(Reference),
}
export type HistoryEntry = RecordOf<typeof HISTORY_ENTRY>

export interface HistoryFilter {
  readonly petId?: bigint | undefined
  /** The name or the id of the key that made the change. */
  readonly who?: string | undefined
  readonly reason?: string | undefined
  readonly reference?: string | undefined
  readonly keyId?: string | undefined
  readonly orderId?: bigint | undefined
  /** From this time on. */
  readonly since?: number | undefined
  /** Before this time. */
  readonly until?: number | undefined
}

/** The log rows that may be removed: rows older than a time, or all rows except the newest `keep`. */
export type PruneLimit = { readonly before: number } | { readonly keep: number }
