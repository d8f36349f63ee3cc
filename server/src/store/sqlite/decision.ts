import type { Database } from 'bun:sqlite'
import type { WrittenDecision } from '../../core/stock/decide.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'
import { isPetRecord, type LogRecord, type PetRecord } from '../../core/stock/stock-draft.ts'
import { detailOf, petIdOf } from '../log-rows.ts'
import { catalogTables } from './catalog.ts'
import { readLogEnd } from './dialect.ts'
import { orderTable } from './orders.ts'

/** Returns a function that writes a decision inside a commit. Its `lastChangeOf` returns a pet's latest log row before it. */
export function decisionWriter(database: Database) {
  const logEnd = readLogEnd(database)
  const orders = orderTable(database)
  const catalog = catalogTables(database)
  const setQuantity = database.query<unknown, [number, bigint, bigint]>(
    'UPDATE stock SET quantity = ?, last_change = ? WHERE pet_id = ?',
  )
  const setReserved = database.query<unknown, [number, bigint]>(
    'UPDATE stock SET reserved = ? WHERE pet_id = ?',
  )
  const insertQuantityRow = database.query<
    unknown,
    [
      id: bigint,
      petId: bigint,
      before: number,
      after: number,
      status: PetStatus,
      at: number,
      keyId: string,
      previous: bigint | null,
      reason: string | null,
      reference: string | null,
    ]
  >(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference)
    VALUES (?, 'change', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertPetRow = database.query<
    unknown,
    [
      id: bigint,
      kind: string,
      petId: bigint,
      before: number | null,
      after: number | null,
      status: PetStatus,
      at: number,
      keyId: string,
      previous: bigint | null,
      detail: string | null,
    ]
  >(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertOtherRow = database.query<
    unknown,
    [id: bigint, kind: string, petId: bigint | null, at: number, keyId: string, detail: string | null]
  >('INSERT INTO log (id, kind, pet_id, at, key_id, detail) VALUES (?, ?, ?, ?, ?, ?)')
  const setLastChange = database.query<unknown, [bigint, bigint]>(
    'UPDATE stock SET last_change = ? WHERE pet_id = ?',
  )
  const setLow = database.query<unknown, [number, bigint]>('UPDATE stock SET is_low = ? WHERE pet_id = ?')

  const insertLogRow = (row: LogRecord, id: bigint, previousOf: (row: PetRecord) => bigint | null): void => {
    const { at, keyId, reason = null, reference = null } = row.by
    if (!isPetRecord(row)) {
      insertOtherRow.run(id, row.kind, petIdOf(row), at, keyId, detailOf(row))
      return
    }
    const { petId, status, isLast } = row
    const previous = previousOf(row)
    if (row.kind === 'change') {
      insertQuantityRow.run(id, petId, row.before, row.after, status, at, keyId, previous, reason, reference)
      if (isLast) setQuantity.run(row.after, id, petId)
      return
    }
    const before = row.kind === 'pet' ? null : row.before
    const after = row.kind === 'pet' ? row.after : null
    insertPetRow.run(id, row.kind, petId, before, after, status, at, keyId, previous, detailOf(row))
    if (isLast) setLastChange.run(id, petId)
  }

  return (decision: WrittenDecision, lastChangeOf: (petId: bigint) => bigint | null): void => {
    const { records } = decision
    if (decision.catalog !== undefined) catalog.write(decision.catalog)
    const firstId = records.length === 0 ? 0n : logEnd().position + 1n
    const previousOf = ({ petId, previousIndex }: PetRecord) =>
      previousIndex === null ? lastChangeOf(petId) : firstId + BigInt(previousIndex)
    for (const [index, row] of records.entries()) insertLogRow(row, firstId + BigInt(index), previousOf)
    for (const [petId, reserved] of decision.reserved) setReserved.run(reserved, petId)
    for (const [petId, isLow] of decision.low) setLow.run(Number(isLow), petId)
    if (decision.catalog !== undefined) catalog.writeThresholds(decision.catalog)
    if (decision.orders !== undefined) orders.write(decision.orders)
  }
}
