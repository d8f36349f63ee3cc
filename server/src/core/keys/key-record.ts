import Type from 'typebox'
import { Name } from '../catalog/catalog-fields.ts'
import { DAY } from '../values/clock.ts'
import { DateTime, type JsonOf, jsonWriter, MAX_QUANTITY, OneOf } from '../values/field.ts'
import { PERMISSIONS, PLANS } from './api-key.ts'
import type { KeyRecord } from './key-store.ts'

export const Permission = OneOf(PERMISSIONS, {
  title: 'Permission',
  description:
    'What a key may change. Every key may read everything except webhooks and keys; of keys, only their names.',
})

export const RequestLimit = (window: 'minute' | 'day') =>
  Type.Integer({
    minimum: 1,
    maximum: MAX_QUANTITY,
    description: `Requests that the key may send per ${window}.`,
  })

export const SECRET_HINT = {
  hint: Type.String({ description: 'The beginning and the end of the secret, to recognise it.' }),
  createdAt: DateTime('When the secret was created, in UTC.'),
  expiresAt: Type.Optional(DateTime('When the secret expires, in UTC; absent if it expires with its key.')),
}

/** A key as callers of the API and operators see it, besides the hints of its secrets. */
export const KEY = {
  id: Type.String({ description: 'Public identifier of the key.' }),
  name: Name('Name of the person, device or program that uses the key.'),
  plan: OneOf(PLANS, { description: 'The plan of the key.' }),
  permissions: Type.Array(Permission, {
    maxItems: PERMISSIONS.length,
    uniqueItems: true,
    description: 'What the key may change; empty if it may only read.',
  }),
  limits: Type.Object({ perMinute: RequestLimit('minute'), perDay: RequestLimit('day') }),
  createdAt: DateTime('When the key was created, in UTC.'),
  expiresAt: Type.Optional(DateTime('When the key expires, in UTC; absent if it never expires.')),
  revokedAt: Type.Optional(DateTime('When the key was revoked, in UTC; absent if it was not.')),
  paused: Type.Boolean({ description: 'Requests with a paused key get 401 until it is resumed.' }),
  lastUsedAt: Type.Optional(DateTime('When the key was last used, in UTC; absent if it never was.')),
  usedToday: Type.Integer({
    minimum: 0,
    maximum: MAX_QUANTITY,
    description:
      'Requests that count towards `limits.perDay`, since the current window of 24 hours began. May be a few seconds out of date.',
  }),
}

const keyToJson = jsonWriter(KEY)
const hintToJson = jsonWriter(SECRET_HINT)

/** The JSON of a key in the API and of `petstore keys list --json`. */
export function keyRecordToJson(
  { key, secrets, lastUsedAt, day }: KeyRecord,
  now: number,
): JsonOf<typeof KEY> & { readonly secrets: object[] } {
  const body = keyToJson({
    ...key,
    permissions: [...key.permissions],
    paused: key.pausedAt !== undefined,
    lastUsedAt,
    usedToday: day !== undefined && now < day.startedAt + DAY ? day.used : 0,
  })
  return { ...body, secrets: secrets.map(hintToJson) }
}
