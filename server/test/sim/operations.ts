import type { Outcome, SentRequest } from './network.ts'

interface AdjustmentChange {
  readonly petId: number
  readonly delta?: number
  readonly quantity?: number
  readonly expected?: number
}

export interface OrderLine {
  readonly petId: number
  readonly quantity: number
}

/** What each kind of operation asks for. Names, references and tags are unique, so that an event names its operation. */
interface WriteFields {
  /** The quantity is unique for the pet. */
  set: { petId: number; quantity: number; ifMatch?: string }
  adjust: { reference: string; keepReserved: boolean; changes: readonly AdjustmentChange[] }
  order: { lines: readonly OrderLine[]; tag: string; holdSeconds?: number }
  change_order: { orderId: number; tag: string; lines?: readonly OrderLine[] }
  complete: { orderId: number }
  cancel: { orderId: number }
  create_pet: { petId: number; name: string; quantity: number; lowStockAt?: number }
  rename_pet: { petId: number; name: string; lowStockAt: number | null }
  remove_pet: { petId: number }
  change_category: { categoryId: number; name: string; lowStockAt: number | null }
}

interface ReadFields {
  list: object
  entry: { petId: number }
  availability: { petId: number }
  read_order: { orderId: number }
  /** The latest change of one pet, or of all. */
  latest_change: { petId: number | undefined }
  /** By a name that the pet had at some time. */
  search: { petId: number; name: string }
  /** A request that must be refused with this status, and must change nothing. */
  invalid: { status: number; request: SentRequest }
}

type Fields = WriteFields & ReadFields
export type WishType = keyof Fields
export type Wish = { [Type in WishType]: { readonly type: Type } & Readonly<Fields[Type]> }[WishType]
export type WishOf<Type extends WishType> = Extract<Wish, { readonly type: Type }>

/** Positions in time, which number everything that callers send and receive. */
export interface Attempt {
  readonly sentAt: number
  /** By the clock that the service sees. */
  readonly wallSentAt: number
  /** `undefined` until an answer has arrived, or until the caller knows that none will. */
  endedAt: number | undefined
  wallEndedAt: number
  outcome: Outcome | undefined
}

/** An operation that a caller sends, perhaps several times with the same Idempotency-Key. */
export interface Operation {
  readonly number: number
  readonly wish: Wish
  readonly idempotencyKey: string | undefined
  readonly attempts: Attempt[]
}

export type Answered = Extract<Outcome, { type: 'answered' }>

export type Verdict = 'made' | 'refused' | 'not_made' | 'unknown'

/** Whether the request has changed what it asked for. */
export function verdictOf(outcome: Outcome | undefined): Verdict {
  if (outcome === undefined || outcome.type === 'lost') return 'unknown'
  if (outcome.type === 'refused') return 'not_made'
  if (outcome.status < 400) return 'made'
  if (outcome.status !== 503) return 'refused'
  return /unknown whether|may or may not/.test(outcome.body) ? 'unknown' : 'not_made'
}

/** The request without the headers that all requests have. */
export function requestOf(wish: Wish): SentRequest {
  const send = (method: string, path: string, body: object, headers = {}) => ({
    method,
    path,
    body: JSON.stringify(body),
    headers,
  })
  const get = (path: string) => ({ method: 'GET', path, headers: {} })
  const remove = (path: string) => ({ method: 'DELETE', path, headers: {} })
  switch (wish.type) {
    case 'set': {
      const { petId, quantity, ifMatch } = wish
      const headers = ifMatch === undefined ? {} : { 'If-Match': ifMatch }
      return send('PATCH', `/inventory/${petId}`, { quantity }, headers)
    }
    case 'adjust': {
      const { type: _, ...body } = wish
      return send('POST', '/inventory/adjustments', { reason: 'corrected', ...body })
    }
    case 'order': {
      const { type: _, tag, ...body } = wish
      return send('POST', '/store/orders', { ...body, metadata: { tag } })
    }
    case 'change_order': {
      const { type: _, orderId, tag, ...body } = wish
      return send('PATCH', `/store/orders/${orderId}`, { ...body, metadata: { tag } })
    }
    case 'complete':
      return send('PATCH', `/store/orders/${wish.orderId}`, { complete: true })
    case 'cancel':
      return remove(`/store/orders/${wish.orderId}`)
    case 'create_pet': {
      const { type: _, petId, ...body } = wish
      return send('POST', '/pets', { id: petId, categoryId: 1, ...body })
    }
    case 'rename_pet':
      return send('PATCH', `/pets/${wish.petId}`, { name: wish.name, lowStockAt: wish.lowStockAt })
    case 'remove_pet':
      return remove(`/pets/${wish.petId}`)
    case 'change_category': {
      const { type: _, categoryId, ...body } = wish
      return send('PATCH', `/categories/${categoryId}`, body)
    }
    case 'list':
      return get('/inventory')
    case 'entry':
      return get(`/inventory/${wish.petId}`)
    case 'availability':
      return get(`/inventory/${wish.petId}/availability`)
    case 'read_order':
      return get(`/store/orders/${wish.orderId}`)
    case 'latest_change':
      return get(
        wish.petId === undefined ? '/inventory/history?limit=1' : `/inventory/${wish.petId}/history?limit=1`,
      )
    case 'search':
      return get(`/inventory/search?q=${wish.name}`)
    case 'invalid':
      return wish.request
  }
}
