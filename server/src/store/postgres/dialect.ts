import { HIGHEST_ORDER_ID } from '../order-rows.ts'
import { type Dialect, statement } from '../sql.ts'

/** Any number that nobody else takes. */
const NEW_PETS_LOCK = 0x696d706f7274n

export const DIALECT = {
  types: { integer: 'BIGINT', text: 'TEXT', boolean: 'BOOLEAN' },
  nextLogId: `nextval('log_ids')`,
  forUpdate: 'FOR UPDATE',
  skipLocked: 'SKIP LOCKED',
  indexedBy: () => '',
  raiseOrderIds: "SELECT setval('order_ids', $1) WHERE $1 > (SELECT last_value FROM order_ids)",
  // One at a time: two that bring the same new pets would wait for each other crosswise.
  beforeNewPets: [statement('SELECT pg_advisory_xact_lock($1)', NEW_PETS_LOCK)],
  keyOrder: 'number',
  newIdentity: [
    // New rows of the log go on behind what was brought in.
    "SELECT setval('log_ids', greatest((SELECT max(id) FROM log), 0) + 1000)",
    `UPDATE log_state SET identity = gen_random_uuid(), prunings = prunings + 1, pruned_xid = pg_current_xact_id()`,
    "UPDATE log_numbering SET server = ''",
    `SELECT setval('order_ids', highest) FROM (${HIGHEST_ORDER_ID}) AS own WHERE highest > 0`,
  ],
} as const satisfies Dialect
