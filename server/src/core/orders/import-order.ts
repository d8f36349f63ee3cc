import type { CommandOf, OutcomeOf } from '../stock/command.ts'
import { withUpdate } from '../values/field.ts'
import {
  COMPLETE_STATE,
  EXPIRED_STATE,
  type FileOrder,
  NEW_STATE,
  ORDER,
  ORDER_UPDATE,
  type Order,
  stateRules,
  toOrderLines,
} from './order.ts'
import type { OrdersDraft } from './orders-draft.ts'

/** A new order that is complete is in the past and takes no stock. */
export function importOrder(
  orders: OrdersDraft,
  command: CommandOf<'import_order'>,
): OutcomeOf<'import_order'> {
  const { order: row } = command
  const existing = orders.find(row.id)
  const reason = (existing && findContradiction(existing, row)) ?? findMissingStock(orders, existing, row)
  if (reason !== undefined) return { type: 'invalid_order', reason }
  if (existing === undefined) {
    orders.add(newOrder(orders, command), command)
    return { type: 'done', change: 'added' }
  }
  let current = existing
  if (!stateRules(existing.state).isComplete && row.complete) {
    const outcome = orders.completeIfAllowed(existing, command)
    if (outcome.type === 'refused') {
      return { type: 'invalid_order', reason: outcome.failures.map(({ message }) => message).join('; ') }
    }
    if (outcome.type !== 'done') throw new Error(`the import of order ${row.id} ended with ${outcome.type}`)
    current = outcome.order
  }
  // A field that the rows lack is cleared.
  const cleared = Object.fromEntries(Object.keys(ORDER_UPDATE).map((name) => [name, null]))
  const { complete, lines, createdAt: _, expiresAt = null, closedAt: __, ...fields } = row
  const hold = complete ? {} : { expiresAt }
  const record = withUpdate(ORDER, current, { ...cleared, ...fields, ...hold })
  const newLines = complete ? current.lines : toOrderLines(lines)
  const changed = orders.replaceOrder({ ...record, lines: newLines }, command)
  return { type: 'done', change: changed === existing ? 'unchanged' : 'changed' }
}

function newOrder({ now }: OrdersDraft, { order: row, keyId }: CommandOf<'import_order'>): Order {
  const { complete, lines, createdAt = now, expiresAt, closedAt = now, ...fields } = row
  const isExpired = !complete && expiresAt !== undefined && expiresAt <= now
  const state = complete ? COMPLETE_STATE : isExpired ? EXPIRED_STATE : NEW_STATE
  const closing = stateRules(state).reserves
    ? {}
    : { closedAt: isExpired ? expiresAt : closedAt, ...(complete ? { closedBy: keyId } : {}) }
  const record = withUpdate(
    ORDER,
    { ...fields, state, createdAt, createdBy: keyId },
    { expiresAt, ...closing },
  )
  return { ...record, lines: toOrderLines(lines) }
}

/** The reason why the rows contradict the order, independent of the stock. */
function findContradiction(order: Order, row: FileOrder): string | undefined {
  const orderText = `order ${row.id}`
  const { reserves, isComplete } = stateRules(order.state)
  if (!reserves && !isComplete) return `${orderText} is already ${order.state}`
  if (isComplete && !row.complete) return `${orderText} is complete and cannot be reopened`
  if (!isComplete && !row.complete) return undefined
  return linesText(order.lines) === linesText(toOrderLines(row.lines))
    ? undefined
    : `${orderText} has ${linesText(order.lines)}; a complete order must have the same lines, got ${linesText(toOrderLines(row.lines))}`
}

function linesText(lines: Order['lines']): string {
  return lines.map(({ petId, quantity }) => `${quantity} of pet ${petId}`).join(', ')
}

/** The reason why the units of an open order cannot be reserved. */
function findMissingStock(
  orders: OrdersDraft,
  existing: Order | undefined,
  { lines, complete, expiresAt }: FileOrder,
): string | undefined {
  if (complete || (existing === undefined && expiresAt !== undefined && expiresAt <= orders.now))
    return undefined
  if (lines.some(({ quantity }) => quantity === 0)) {
    return 'the quantity of an open order must be at least 1, got 0'
  }
  const [failure] = orders.reservationFailures(lines, existing?.lines)
  return failure && `an open order reserves stock: ${failure.message}`
}
