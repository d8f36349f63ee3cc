import { getConnInfo } from 'hono/bun'
import { createMiddleware } from 'hono/factory'
import { validator } from 'hono/validator'
import { createGate, type PeerKey } from './gate.ts'
import { MAX_CHANGES, type PeerAdjustment, type PeerDraft, REASONS } from './inventory.ts'
import type { PeerSearch } from './search.ts'

/** Shared by both Hono peers. hono.dev/docs/helpers/factory, /docs/guides/validation. */
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

export const quantityValidator = validator('json', (value: unknown, c) =>
  isObject(value) && isInteger(value.quantity, 0)
    ? { quantity: value.quantity }
    : c.json(invalid('quantity must be an integer'), 400),
)

export const adjustmentValidator = validator('json', (value: unknown, c) =>
  isAdjustment(value) ? value : c.json(invalid('not an adjustment'), 400),
)

export const draftValidator = validator('json', (value: unknown, c) =>
  isDraft(value) ? value : c.json(invalid('not an order'), 400),
)

export const searchValidator = validator('query', (_, c) => {
  const query: PeerSearch = c.req.query()
  return isSearch(query) ? query : c.json(invalid('not a search'), 400)
})

/** RFC 8288. */
export function nextLink(query: PeerSearch, next: number): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor: String(next) })) {
    if (value !== undefined) parameters.set(name, value)
  }
  return `</v1/inventory/search?${parameters}>; rel="next"`
}

function invalid(message: string) {
  return { code: 'invalid_request', message, status: 400 }
}

const WHOLE_NUMBER = /^\d{1,15}$/

function isSearch({ q, categoryId, low, cursor }: PeerSearch): boolean {
  if (![categoryId, cursor].every((value) => value === undefined || WHOLE_NUMBER.test(value))) return false
  return q === undefined ? categoryId !== undefined || low === 'true' : q.length > 0 && q.length <= 200
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isInteger(value: unknown, min: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min
}

function isDraft(value: unknown): value is PeerDraft {
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
