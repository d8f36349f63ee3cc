import type { Dialect } from '../sql.ts'

export const DIALECT: Dialect = {
  types: { integer: 'INTEGER', text: 'TEXT', boolean: 'INTEGER' },
  nextLogId: `(SELECT max(coalesce((SELECT max(id) FROM log), 0), pruned_up_to) FROM log_state) + row_number() OVER ()`,
  // A file has one writer at a time.
  forUpdate: '',
  skipLocked: '',
  beforeNewPets: [],
  keyOrder: 'rowid',
  newIdentity: ['UPDATE log_state SET identity = lower(hex(randomblob(8)))'],
}
