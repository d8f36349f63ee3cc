import { getConnInfo } from 'hono/bun'
import { createMiddleware } from 'hono/factory'
import { validator } from 'hono/validator'
import { createGate, type PeerKey } from './gate.ts'
import type { PeerSearch } from './search.ts'
import { MAX_CHANGES, type PeerAdjustment, type PeerDraft, REASONS } from './statements.ts'

/** What the Hono peers have in common. Hono: hono.dev/docs/helpers/factory, /docs/guides/validation. */
export function honoGate(findKey: (hash: string) => PeerKey | undefined) {
  const pass = createGate(findKey)
  return createMiddleware<{ Variables: { keyId: string } }>(async (c, next) => {
    const result = pass(c.req.header('authorization'), getConnInfo(c).remote.address ?? 'unknown')
    for (const [name, value] of Object.entries(result.headers)) c.header(name, value)
    if (result.refused !== undefined) return c.json(result.refused, result.refused.status)
    c.set('keyId', result.key?.id ?? '')
    return next()
  })
}

export const quantityValidator = validator('json', (value: unknown, c) => {
  if (typeof value === 'object' && value !== null && 'quantity' in value) {
    const { quantity } = value
    if (typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= 0) return { quantity }
  }
  return c.json({ code: 'invalid_request', message: 'quantity must be an integer', status: 400 }, 400)
})

export const adjustmentValidator = validator('json', (value: unknown, c) =>
  isAdjustment(value)
    ? value
    : c.json({ code: 'invalid_request', message: 'this is no adjustment', status: 400 }, 400),
)

export const draftValidator = validator('json', (value: unknown, c) =>
  isDraft(value) ? value : c.json({ code: 'invalid_request', message: 'this is no order', status: 400 }, 400),
)

const WHOLE_NUMBER = /^\d{1,15}$/

export const searchValidator = validator('query', ({ q, categoryId, low, cursor }, c) => {
  const asked: PeerSearch = {
    q: single(q),
    categoryId: single(categoryId),
    low: single(low),
    cursor: single(cursor),
  }
  return isSearch(asked)
    ? asked
    : c.json({ code: 'invalid_request', message: 'this is no search', status: 400 }, 400)
})

/** RFC 8288, as ours has it. */
export function nextLink(asked: PeerSearch, next: number): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...asked, cursor: String(next) })) {
    if (value !== undefined) query.set(name, value)
  }
  return `</v1/inventory/search?${query}>; rel="next"`
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function isSearch({ q, categoryId, low, cursor }: PeerSearch): boolean {
  if (![categoryId, cursor].every((value) => value === undefined || WHOLE_NUMBER.test(value))) return false
  return q === undefined ? categoryId !== undefined || low === 'true' : q.length > 0 && q.length <= 200
}

function isDraft(value: unknown): value is PeerDraft {
  if (typeof value !== 'object' || value === null || !('petId' in value) || !('quantity' in value))
    return false
  const { petId, quantity } = value
  return Number.isSafeInteger(petId) && Number.isSafeInteger(quantity) && Number(quantity) >= 1
}

function isAdjustment(value: unknown): value is PeerAdjustment {
  if (typeof value !== 'object' || value === null || !('reason' in value) || !('changes' in value))
    return false
  const { reason, changes } = value
  if (!REASONS.some((known) => known === reason) || !Array.isArray(changes)) return false
  return changes.length > 0 && changes.length <= MAX_CHANGES && changes.every(isChange)
}

function isChange(change: unknown): boolean {
  if (typeof change !== 'object' || change === null || !('petId' in change) || !('delta' in change))
    return false
  return Number.isSafeInteger(change.petId) && Number.isSafeInteger(change.delta)
}
