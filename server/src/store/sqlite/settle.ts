import type { Database } from 'bun:sqlite'

/**
 * Brings `settled_stock` up to the end of the history. Whoever changes or removes entries there does this first, in the
 * same transaction: what is late goes to the pets that are there, and would otherwise reach one that came back since.
 */
export function settle(database: Database): void {
  database.run(`
    UPDATE settled_stock SET quantity = late.after, last_change = late.id
    FROM late_changes AS late WHERE late.pet_id = settled_stock.pet_id
  `)
  database.run(`
    UPDATE settled SET up_to = latest.id FROM (SELECT max(id) AS id FROM history) AS latest WHERE latest.id > up_to
  `)
}
