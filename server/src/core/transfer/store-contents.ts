import { CATEGORY } from '../catalog/category.ts'
import { PET } from '../catalog/pet.ts'
import { ORDER } from '../orders/order.ts'
import { columnsOf } from '../values/field.ts'

const { status: _, ...petRecord } = PET

/**
 * Everything that a store holds, for moving it to another: each kind with its columns, in the order in which they
 * must be written, since later kinds refer to earlier ones.
 */
export const CONTENTS = {
  categories: columnsOf(CATEGORY),
  pets: { ...columnsOf(petRecord), words: 'text' },
  stock: {
    pet_id: 'integer',
    quantity: 'integer',
    status: 'text',
    reserved: 'integer',
    low_at: 'integer',
    is_low: 'boolean',
    last_change: 'integer',
  },
  orders: columnsOf(ORDER),
  log: {
    id: 'integer',
    kind: 'text',
    pet_id: 'integer',
    before: 'integer',
    after: 'integer',
    status: 'text',
    at: 'integer',
    key_id: 'text',
    previous: 'integer',
    reason: 'text',
    reference: 'text',
    detail: 'text',
  },
  keys: {
    id: 'text',
    name: 'text',
    plan: 'text',
    per_minute: 'integer',
    per_day: 'integer',
    permissions: 'text',
    created_at: 'integer',
    expires_at: 'integer',
    revoked_at: 'integer',
  },
  key_secrets: {
    hash: 'text',
    key_id: 'text',
    hint: 'text',
    created_at: 'integer',
    expires_at: 'integer',
  },
  audit: { at: 'integer', actor: 'text', action: 'text', key_id: 'text', detail: 'text' },
  limit_windows: {
    key_id: 'text',
    minute_started_at: 'integer',
    minute_used: 'integer',
    minute_rejected: 'integer',
    day_started_at: 'integer',
    day_used: 'integer',
    day_rejected: 'integer',
    last_used_at: 'integer',
  },
  bans: { key_id: 'text', number: 'integer', began_at: 'integer', ends_at: 'integer', lifted_at: 'integer' },
  idempotency: { key_id: 'text', key: 'text', fingerprint: 'text', answer: 'text', at: 'integer' },
  webhooks: {
    id: 'integer',
    url: 'text',
    kinds: 'text',
    paused: 'boolean',
    created_at: 'integer',
    secret: 'text',
    old_secret: 'text',
    old_secret_until: 'integer',
    cursor: 'text',
    off_at: 'integer',
    off_reason: 'text',
    revision: 'integer',
    created_by: 'text',
  },
  usage_days: { key_id: 'text', day: 'text', accepted: 'integer', rejected: 'integer' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ContentType>>>>

export type ContentType = 'integer' | 'text' | 'boolean'
export type ContentKind = keyof typeof CONTENTS
export const CONTENT_KINDS = Object.keys(CONTENTS) as ContentKind[]

/** Integers are `bigint`, whatever their size. */
export type ContentValue = bigint | string | boolean | null

/** Some rows of one kind: their values in the order of its columns. */
export interface ContentBatch {
  readonly kind: ContentKind
  readonly rows: readonly (readonly ContentValue[])[]
}

export type ContentCounts = Readonly<Record<ContentKind, number>>

export function contentColumns(kind: ContentKind): Readonly<Record<string, ContentType>> {
  return CONTENTS[kind]
}
