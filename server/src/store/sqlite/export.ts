import { Database } from 'bun:sqlite'
import type { TransferStore } from '../../core/transfer/transfer-store.ts'
import { inBatches } from './batches.ts'
import type { Connection } from './connection.ts'
import { SqliteStagedImport } from './import.ts'
import { type DifferingRow, ORDER_PLAN, PET_PLAN } from './import-plan.ts'
import { createPrivateFile } from './private-file.ts'

export function transferVerbs(connection: Connection): TransferStore {
  return {
    stagePets: async () => new SqliteStagedImport(connection, PET_PLAN),
    stageOrders: async () => new SqliteStagedImport(connection, ORDER_PLAN),

    exportPets: () =>
      pages(
        connection,
        'SELECT id, name, category_id, status, quantity FROM pets JOIN stock ON stock.pet_id = pets.id',
        PET_PLAN.toValue,
      ),
    exportOrders: () =>
      pages(connection, 'SELECT id, pet_id, quantity, ship_date, complete FROM orders', ORDER_PLAN.toValue),

    backupTo: (path) =>
      connection.read(() => {
        createPrivateFile(path, { mustBeNew: true })
        connection.database.run('VACUUM INTO ?', [path])
        const copy = new Database(path)
        try {
          // Where it is served, it goes another way than the original: cursors of that one mean nothing in it.
          copy.run('UPDATE log_state SET identity = lower(hex(randomblob(8)))')
          const found = copy.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
          if (found?.integrity_check !== 'ok') {
            throw new Error(
              `the copy is damaged: ${found?.integrity_check}; petstore doctor checks the database`,
            )
          }
        } finally {
          copy.close()
        }
      }),
  }
}

/** All rows by id, page by page, of one moment: in one transaction, on a connection of its own. */
async function* pages<Value>(
  main: Connection,
  select: string,
  toValue: (row: DifferingRow, prefix: '') => Value,
): AsyncGenerator<Value[]> {
  const connection = main.another()
  try {
    connection.stopBlocking()
    await connection.read(() => connection.database.run('BEGIN'))
    const rows = connection.database.query<DifferingRow, []>(`${select} ORDER BY id`).iterate()
    yield* inBatches(connection, rows, (row) => toValue(row, ''))
  } finally {
    connection.close()
  }
}
