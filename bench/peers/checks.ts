/** The checks of request bodies, the same for every peer. */
const REASONS = ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'] as const
const MAX_CHANGES = 1_000
const MAX_LINES = 100

/** Changes several pets in one transaction, all or none. */
export interface PeerAdjustment {
  readonly reason: string
  readonly changes: readonly { readonly petId: number; readonly delta: number }[]
}

export interface PeerLine {
  readonly petId: number
  readonly quantity: number
}

/** Answered with its body; rolls the transaction back. */
export class Refused extends Error {
  readonly body: { readonly code: string; readonly message: string; readonly status: 400 | 404 | 409 }

  constructor(status: 400 | 404 | 409, code: string, message: string) {
    super(message)
    this.body = { code, message, status }
  }
}

export function readQuantity(body: unknown): number {
  if (isObject(body) && isInteger(body.quantity, 0)) return body.quantity
  throw invalid('quantity must be an integer')
}

/** The lines of an order, by petId. */
export function readLines(body: unknown): readonly PeerLine[] {
  if (isLine(body)) return [body]
  const lines: unknown = isObject(body) ? body.lines : undefined
  if (!Array.isArray(lines) || lines.length === 0 || lines.length > MAX_LINES || !lines.every(isLine)) {
    throw invalid('not an order')
  }
  const sorted = lines.toSorted((one, other) => one.petId - other.petId)
  if (sorted.some(({ petId }, index) => petId === sorted[index - 1]?.petId))
    throw invalid('a pet occurs twice')
  return sorted
}

export function readAdjustment(body: unknown): PeerAdjustment {
  if (isAdjustment(body)) return body
  throw invalid('not an adjustment')
}

function invalid(message: string): Refused {
  return new Refused(400, 'invalid_request', message)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isInteger(value: unknown, min: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min
}

function isLine(value: unknown): value is PeerLine {
  return isObject(value) && isInteger(value.petId, 1) && isInteger(value.quantity, 1)
}

function isAdjustment(value: unknown): value is PeerAdjustment {
  if (!isObject(value)) return false
  const { reason, changes } = value
  if (!REASONS.some((known) => known === reason) || !Array.isArray(changes)) return false
  return changes.length > 0 && changes.length <= MAX_CHANGES && changes.every(isChange)
}

function isChange(change: unknown): boolean {
  return isObject(change) && isInteger(change.petId, 1) && Number.isSafeInteger(change.delta)
}
