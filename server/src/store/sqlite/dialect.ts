import { highestId, ID_STEP, OWN_IDS } from '../own-ids.ts'
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
  lookUp: (table, which) => `CROSS JOIN ${table} ON ${which}`,
  listedIds: (parameter) => `SELECT value AS id FROM json_each(${parameter})`,
  raiseIds: (table) => `UPDATE last_ids SET ${table} = $1 WHERE ${table} < $1`,
  lockCatalog: [],
  jsonObject: 'json_object',
  keyOrder: 'rowid',
  newIdentity: [
    'UPDATE log_state SET identity = lower(hex(randomblob(8)))',
    ...OWN_IDS.map(
      (table) => `UPDATE last_ids SET ${table} = max(${table}, coalesce((${highestId(table)}), ${table}))`,
    ),
  ],
  skipIds: OWN_IDS.map((table) => `UPDATE last_ids SET ${table} = ${table} + ${ID_STEP}`),
}
