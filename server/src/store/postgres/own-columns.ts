/**
 * The columns that a migration adds, such as `stock.quantity`. Reads CREATE TABLE with one column a line, and ALTER TABLE with
 * ADD COLUMN; a test compares the result with what PostgreSQL makes of the migrations.
 */
export function addedColumns(sql: string): string[] {
  const created = [...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(\n(.*?)\n {2}\)/gs)].flatMap(
    ([, table, body = '']) =>
      [...body.matchAll(/^ {4}([a-z]\w*) /gm)].map(([, column]) => `${table}.${column}`),
  )
  const altered = [...sql.matchAll(/ALTER TABLE (\w+)([^;]*)/g)].flatMap(([, table, changes = '']) =>
    [...changes.matchAll(/ADD COLUMN (\w+)/g)].map(([, column]) => `${table}.${column}`),
  )
  return [...created, ...altered]
}
