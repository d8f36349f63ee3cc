import { Database } from 'bun:sqlite'
import { createInventory, type Statement, type Value } from './inventory.ts'

export function openInventory(path: string) {
  const database = new Database(path)
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = FULL')
  return createInventory({
    prepare: <Row>(sql: string): Statement<Row> => database.query<Row, Value[]>(sql),
    transaction: (work) => database.transaction(work),
  })
}
