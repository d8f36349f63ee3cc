import { type Dialect, statement } from '../sql.ts'

/** Any number that nobody else takes. */
const NEW_PETS_LOCK = 0x696d706f7274n

export const DIALECT = {
  types: { integer: 'BIGINT', text: 'TEXT', boolean: 'BOOLEAN' },
  nextLogId: `nextval('log_ids')`,
  forUpdate: 'FOR UPDATE',
  skipLocked: 'SKIP LOCKED',
  // One at a time: two that bring the same new pets would wait for each other crosswise.
  beforeNewPets: [statement('SELECT pg_advisory_xact_lock($1)', NEW_PETS_LOCK)],
  keyOrder: 'number',
  newIdentity: [
    // New rows of the log go on behind what was brought in.
    "SELECT setval('log_ids', greatest((SELECT max(id) FROM log), 0) + 1000)",
    `UPDATE log_state SET identity = gen_random_uuid(), prunings = prunings + 1, pruned_xid = pg_current_xact_id()`,
    "UPDATE log_numbering SET server = ''",
  ],
} as const satisfies Dialect
