import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { createReadyDatabase, type TestDatabase } from './postgres-databases.ts'

/** `TEST_STORE=postgres bun test …` runs the service under test on PostgreSQL instead of SQLite. */
const ON_POSTGRES = Bun.env.TEST_STORE === 'postgres'

/** An empty database for a service under test, on PostgreSQL with its tables. */
export function createTestDatabase(folder: string, onPostgres = ON_POSTGRES): Promise<TestDatabase> {
  return onPostgres ? createReadyDatabase() : Promise.resolve(sqliteDatabase(join(folder, 'petstore.db')))
}

export function sqliteDatabase(path: string): TestDatabase {
  return {
    url: `sqlite:${path}`,
    run: async (sql) => {
      const database = new Database(path)
      try {
        return database.query<Record<string, unknown>, []>(sql).all()
      } finally {
        database.close()
      }
    },
    // It is removed with its folder.
    drop: async () => {},
  }
}
