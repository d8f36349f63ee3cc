import type { LedgerStore } from '../../core/limits/limit-store.ts'
import { saveStatements, usageVerbs } from '../limits.ts'
import type { Connection } from './connection.ts'

/** One process serves a file: it counts in its memory, and the file remembers. */
export function ledgerStore(connection: Connection): LedgerStore {
  return {
    loadLimits: usageVerbs(connection).loadLimits,

    saveLimits: async (records) => {
      await connection.commit(saveStatements(records), 'forgettable')
    },

    listLiftedBans: async (now) => {
      const rows = await connection.rows<{ key_id: string; number: bigint }>(
        'SELECT key_id, number FROM bans WHERE lifted_at IS NOT NULL AND ends_at > $1',
        now,
      )
      return rows.map(({ key_id, number }) => ({ keyId: key_id, number: Number(number) }))
    },
  }
}
