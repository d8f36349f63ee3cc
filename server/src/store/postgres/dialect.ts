import { highestId, OWN_IDS } from '../own-ids.ts'
import { type Dialect, statement } from '../sql.ts'
import { IDS_A_NUMBER } from './log-ids.ts'

/** Any number that nobody else takes. Held together by those who change some pets, alone by those who change any. */
export const CATALOG_LOCK = 0x696d706f7274n
/** The words of a name as they are: no parser of the server has a say in what a word is. */
export const WORDS_VECTOR = `array_to_tsvector(string_to_array(words, ' '))`
/** Likewise: before the number of one of the locks of barcodes. */
export const BARCODE_LOCK_CLASS = 0x62617263
const SEQUENCES = { orders: 'order_ids', pets: 'pet_ids', categories: 'category_ids' } as const

export const DIALECT = {
  types: { integer: 'BIGINT', text: 'TEXT', boolean: 'BOOLEAN' },
  nextLogId: `nextval('log_ids')`,
  forUpdate: 'FOR UPDATE',
  skipLocked: 'SKIP LOCKED',
  indexedBy: () => '',
  lookUp: (table, which) => `CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${which} OFFSET 0) AS ${table}`,
  listedIds: (parameter) =>
    `SELECT CAST(value AS bigint) AS id FROM jsonb_array_elements_text(CAST(CAST(${parameter} AS text) AS jsonb)) AS listed (value)`,
  raiseIds: (table) =>
    `SELECT setval('${SEQUENCES[table]}', $1) WHERE $1 > (SELECT last_value FROM ${SEQUENCES[table]})`,
  lockCatalog: [statement('SELECT pg_advisory_xact_lock($1)', CATALOG_LOCK)],
  jsonObject: 'json_build_object',
  keyOrder: 'number',
  newIdentity: [
    // New rows of the log go on behind what was brought in.
    `SELECT setval('log_ids', greatest((SELECT max(id) FROM log), 0) + ${IDS_A_NUMBER})`,
    `UPDATE log_state SET identity = gen_random_uuid(), prunings = prunings + 1, pruned_xid = pg_current_xact_id()`,
    "UPDATE log_numbering SET server = ''",
    ...OWN_IDS.map(
      (table) =>
        `SELECT setval('${SEQUENCES[table]}', highest) FROM (${highestId(table)}) AS brought
        WHERE highest >= (SELECT last_value FROM ${SEQUENCES[table]})`,
    ),
  ],
  skipIds: ['SELECT skip_ids()'],
} as const satisfies Dialect
