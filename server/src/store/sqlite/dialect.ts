import { HIGHEST_ORDER_ID } from '../order-rows.ts'
import type { Dialect } from '../sql.ts'

/** The id of the last row that the log had. Removed rows keep theirs: none is given twice. */
export const LAST_LOG_ID = '(SELECT max(coalesce((SELECT max(id) FROM log), 0), pruned_up_to) FROM log_state)'

export const DIALECT: Dialect = {
  types: { integer: 'INTEGER', text: 'TEXT', boolean: 'INTEGER' },
  nextLogId: `${LAST_LOG_ID} + row_number() OVER ()`,
  // A file has one writer at a time.
  forUpdate: '',
  skipLocked: '',
  indexedBy: (index) => `INDEXED BY ${index}`,
  raiseOrderIds: 'UPDATE order_ids SET last = $1 WHERE last < $1',
  beforeNewPets: [],
  keyOrder: 'rowid',
  newIdentity: [
    'UPDATE log_state SET identity = lower(hex(randomblob(8)))',
    `UPDATE order_ids SET last = coalesce((${HIGHEST_ORDER_ID}), last)`,
  ],
}
