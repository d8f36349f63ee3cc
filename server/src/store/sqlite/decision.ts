import type { Database } from 'bun:sqlite'
import { isQuantityChange } from '../../core/stock/changing-stock.ts'
import type { Decision } from '../../core/stock/decide.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'
import { toDetail } from '../order-rows.ts'
import { readLogEnd } from './log-end.ts'
import { orderTable } from './orders.ts'

/** Writes what was decided, inside a commit. `lastChangeOf` tells each pet's latest row in the log before it. */
export function decisionWriter(database: Database) {
  const logEnd = readLogEnd(database)
  const orders = orderTable(database)
  const setQuantity = database.query<unknown, [number, bigint, bigint]>(
    'UPDATE stock SET quantity = ?, last_change = ? WHERE pet_id = ?',
  )
  const setReserved = database.query<unknown, [number, bigint]>(
    'UPDATE stock SET reserved = ? WHERE pet_id = ?',
  )
  const recordChange = database.query<
    unknown,
    [
      ...[
        id: bigint,
        petId: bigint,
        before: number,
        after: number,
        status: PetStatus,
        at: number,
        keyId: string,
      ],
      ...[previous: bigint | null, reason: string | null, reference: string | null],
    ]
  >(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference)
    VALUES (?, 'change', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const recordOrder = database.query<
    unknown,
    [id: bigint, petId: bigint, at: number, keyId: string, detail: string]
  >("INSERT INTO log (id, kind, pet_id, at, key_id, detail) VALUES (?, 'order', ?, ?, ?, ?)")

  return (
    decision: Pick<Decision, 'made' | 'orders'>,
    lastChangeOf: (petId: bigint) => bigint | null,
  ): void => {
    const { made } = decision
    const first = made.length === 0 ? 0n : logEnd().position + 1n
    for (const [index, row] of made.entries()) {
      const id = first + BigInt(index)
      const { at, keyId, reason = null, reference = null } = row.by
      if (!isQuantityChange(row)) {
        recordOrder.run(id, row.order.petId, at, keyId, toDetail(row.change, row.order))
        continue
      }
      const { petId, before, after, status, follows, isLast } = row
      const previous = follows === null ? lastChangeOf(petId) : first + BigInt(follows)
      recordChange.run(id, petId, before, after, status, at, keyId, previous, reason, reference)
      if (isLast) setQuantity.run(after, id, petId)
    }
    if (decision.orders === undefined) return
    for (const [petId, reserved] of decision.orders.reserved) setReserved.run(reserved, petId)
    orders.write(decision.orders)
  }
}
