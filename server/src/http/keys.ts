import Type from 'typebox'
import {
  DEFAULT_PERMISSIONS,
  KEY_ROW,
  type KeyChange,
  limitsOfPlan,
  PLAN_LIMITS,
  requireNoLimits,
  toKeyRow,
} from '../core/keys/api-key.ts'
import { keyNotFound } from '../core/keys/key-command.ts'
import type { IssuedKey } from '../core/keys/key-manager.ts'
import { KEY, keyRecordToJson, Permission, RequestLimit, SECRET_HINT } from '../core/keys/key-record.ts'
import { KEY_AUDIT_ENTRY, type KeyRecord } from '../core/keys/key-store.ts'
import { formatPairingCode, MAX_SECRETS, PAIRING_CODE_MINUTES } from '../core/keys/pairing.ts'
import { SECOND } from '../core/values/clock.ts'
import { DateTime, invalidField, jsonWriter, Text } from '../core/values/field.ts'
import { type Page, type PageRequest, readPage, readPageById, unknownCursor } from '../core/values/page.ts'
import { recordTag } from '../core/values/record-tag.ts'
import { isWebhookAction } from '../core/webhooks/webhooks-draft.ts'
import { defineOperation, type Services } from './operation.ts'
import {
  conditionalReply,
  jsonReply,
  NO_CONTENT,
  NO_STORE,
  PAIRING_CODE_ADVICE,
  pageReply,
  recordETag,
  recordTagsIn,
  unauthorizedReply,
  WRONG_PAIRING_CODE,
} from './reply.ts'
import { EXAMPLE_KEY, EXAMPLE_TIME, PlainText, pageParameters } from './schemas.ts'

const KEY_ID = /^key_\w{1,64}$/

const KeyId = (description: string) =>
  Text({ pattern: KEY_ID.source, description }, `the id of a key such as ${EXAMPLE_KEY.id}`, (text) =>
    KEY_ID.test(text),
  )

const SecretHint = Type.Object(SECRET_HINT, {
  title: 'SecretHint',
  examples: [{ hint: 'pst_live_…9fQx', createdAt: EXAMPLE_TIME }],
})

const KEY_BODY = {
  ...KEY,
  secrets: Type.Array(SecretHint, { description: 'Hints of the secrets of the key, newest first.' }),
}

const KEY_BODY_EXAMPLE = {
  ...EXAMPLE_KEY,
  plan: 'pro',
  permissions: ['stock', 'orders'],
  limits: PLAN_LIMITS.pro,
  createdAt: EXAMPLE_TIME,
  paused: false,
  lastUsedAt: EXAMPLE_TIME,
  usedToday: 120,
  secrets: [{ hint: 'pst_live_…9fQx', createdAt: EXAMPLE_TIME }],
}

const Key = Type.Object(KEY_BODY, { title: 'Key', examples: [KEY_BODY_EXAMPLE] })

const KeyName = Type.Object({ id: KEY.id, name: KEY.name }, { title: 'KeyName', examples: [EXAMPLE_KEY] })

const KeyWithSecret = Type.Object(
  {
    key: Key,
    secret: PlainText('The secret of the key, to send as the bearer token. It is shown only once.'),
  },
  {
    title: 'KeyWithSecret',
    examples: [{ key: KEY_BODY_EXAMPLE, secret: 'pst_live_7Hq2mXv4Tz9LpKc1RbYw5NsEd8JfGu3aVQx9fQx' }],
  },
)

const NewKey = Type.Object(
  {
    name: KEY.name,
    plan: KEY.plan,
    permissions: Type.Optional(
      Type.Array(Permission, {
        ...KEY.permissions,
        description: `What the key may change. By default: ${DEFAULT_PERMISSIONS.join(', ')}.`,
      }),
    ),
    expiresAt: Type.Optional(DateTime('When the key expires; it never expires by default.')),
    perMinute: Type.Optional(RequestLimit('minute')),
    perDay: Type.Optional(RequestLimit('day')),
  },
  {
    title: 'NewKey',
    description: 'The enterprise plan needs `perMinute` and `perDay`; the limits of other plans are fixed.',
    examples: [{ name: EXAMPLE_KEY.name, plan: 'pro', permissions: ['stock', 'orders'] }],
  },
)

const KeyUpdate = Type.Object(
  {
    name: Type.Optional(KEY.name),
    permissions: Type.Optional(KEY.permissions),
    paused: Type.Optional(KEY.paused),
    expiresAt: Type.Optional(
      Type.Union([DateTime('When the key expires; null if it never expires.'), Type.Null()]),
    ),
    plan: Type.Optional(KEY.plan),
    perMinute: Type.Optional(RequestLimit('minute')),
    perDay: Type.Optional(RequestLimit('day')),
  },
  {
    title: 'KeyUpdate',
    minProperties: 1,
    description: 'Has at least one of these fields. `perMinute` and `perDay` need `"plan": "enterprise"`.',
    examples: [{ paused: true }],
  },
)

const DEFAULT_GRACE_SECONDS = 86_400
const MAX_GRACE_SECONDS = 90 * 86_400

const KeyRotation = Type.Object(
  {
    graceSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_GRACE_SECONDS,
        description: `How long the earlier secrets stay valid; ${DEFAULT_GRACE_SECONDS} (a day) by default, 0 ends them at once.`,
      }),
    ),
  },
  { title: 'KeyRotation', examples: [{ graceSeconds: 3_600 }] },
)

const PairingCode = Type.Object(
  {
    code: PlainText('8 letters and digits with a dash in the middle. The dash and the case do not matter.'),
    expiresAt: DateTime('When the code expires, in UTC.'),
  },
  { title: 'PairingCode', examples: [{ code: 'K7QM-2XVT', expiresAt: EXAMPLE_TIME }] },
)

const KeyAuditEntry = Type.Object(KEY_AUDIT_ENTRY, {
  title: 'KeyAuditEntry',
  examples: [
    {
      id: 42,
      at: EXAMPLE_TIME,
      actor: 'Owner (key_2Zr8KpX1mQvB7LdE)',
      action: 'change',
      detail: 'may: stock,orders → stock',
    },
  ],
})
const auditEntryToJson = jsonWriter(KEY_AUDIT_ENTRY)

const RULES =
  'A key can manage another key only if it has all permissions of that key. After the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise the response is 403.'
const LAST_MANAGER =
  'One unpaused key without expiry always has the permission `keys`: a request that would end this gets 409.'
const SECRET_ONCE = 'Only this response shows the secret. An Idempotency-Key is ignored.'

export const listKeys = defineOperation('GET', '/keys', {
  summary: 'List API keys',
  description: 'Returns all keys, oldest first, in pages. Revoked keys stay in the list.',
  permission: 'keys',
  query: pageParameters(),
  success: { description: 'A page of keys.', schema: Type.Array(Key) },
  reply: async ({ query, request }, { store, clock }) =>
    pageReply(request, query, await readKeyPage(store, query), (record) => keyRecordToJson(record, clock())),
})

export const listKeyNames = defineOperation('GET', '/keys/names', {
  summary: 'List the names of API keys',
  description:
    'Returns the id and the name of every key, oldest first, in pages. Revoked keys are included, so that an order or a change can be shown with the name of the person who made it.',
  stability: 'beta',
  query: pageParameters(),
  success: { description: 'A page of names.', schema: Type.Array(KeyName) },
  reply: async ({ query, request }, { store }) =>
    pageReply(request, query, await readKeyPage(store, query), ({ key: { id, name } }) => ({ id, name })),
})

export const createKey = defineOperation('POST', '/keys', {
  summary: 'Create an API key',
  description: `Creates a key for a person, a device or a program. ${RULES} ${SECRET_ONCE} If the response is lost, revoke the key or rotate its secret.`,
  permission: 'keys',
  body: NewKey,
  success: { status: 201, description: 'The key, with its secret.', schema: KeyWithSecret },
  reply: async ({ body, key, request }, { keys, clock }) => {
    const { name, plan, permissions = DEFAULT_PERMISSIONS, expiresAt, perMinute, perDay } = body
    const issued = await keys.create(key, {
      name,
      plan,
      permissions,
      limits: limitsOfPlan(plan, { perMinute, perDay }),
      ...(expiresAt === undefined ? {} : { expiresAt: requireFuture(expiresAt, clock()) }),
    })
    const Location = `${request.path}/${issued.record.key.id}`
    return jsonReply(bodyWithSecret(issued, clock()), { Location, ...NO_STORE }, 201)
  },
})

export const getKey = defineOperation('GET', '/keys/{keyId}', {
  summary: 'Get an API key',
  description: 'Returns one key, without its secrets.',
  permission: 'keys',
  params: { keyId: KeyId('The key to return.') },
  success: { description: 'The key.', schema: Key },
  reply: async ({ params: { keyId }, request }, { store, clock }) => {
    const record = await store.findKeyRecord(keyId)
    if (record === undefined) throw keyNotFound(keyId)
    return conditionalReply(keyReply(record, clock()), request)
  },
})

export const listKeyAudit = defineOperation('GET', '/keys/{keyId}/audit', {
  summary: 'List the audit log of an API key',
  description:
    'Returns every action on one key and on the webhooks that belong to it, newest first, in pages. A revoked key keeps its log.',
  stability: 'beta',
  permission: 'keys',
  params: { keyId: KeyId('The key whose log is returned.') },
  query: pageParameters(),
  success: { description: 'A page of the log.', schema: Type.Array(KeyAuditEntry) },
  reply: async ({ params: { keyId }, query, key, request }, { store }) => {
    if ((await store.findKeyRecord(keyId)) === undefined) throw keyNotFound(keyId)
    const page = await readPageById(query, (limit, before) => store.listKeyAudit(keyId, limit, before))
    const mayReadWebhooks = key.permissions.includes('webhooks')
    return pageReply(request, query, page, (entry) =>
      auditEntryToJson(isWebhookAction(entry.action) && !mayReadWebhooks ? { ...entry, detail: '' } : entry),
    )
  },
})

export const updateKey = defineOperation('PATCH', '/keys/{keyId}', {
  summary: 'Update an API key',
  description: `Changes the given fields of a key; its secrets stay valid. Changes take effect on all instances within a second. ${RULES} ${LAST_MANAGER}`,
  permission: 'keys',
  params: { keyId: KeyId('The key to update.') },
  body: KeyUpdate,
  success: { description: 'The key.', schema: Key },
  errors: ['in_use'],
  reply: async ({ params: { keyId }, body, key, ifMatch }, { keys, clock }) => {
    const onlyIfTags = recordTagsIn(ifMatch)
    const record = await keys.change(key, keyId, toKeyChange(body, clock()), { onlyIfTags })
    return keyReply(record, clock())
  },
})

export const revokeKey = defineOperation('DELETE', '/keys/{keyId}', {
  summary: 'Revoke an API key',
  description: `Revokes a key and all its secrets permanently. Its history stays. ${RULES} ${LAST_MANAGER}`,
  permission: 'keys',
  params: { keyId: KeyId('The key to revoke.') },
  success: { status: 204, description: 'The key was revoked.', schema: Type.Null() },
  errors: ['in_use'],
  reply: async ({ params: { keyId }, key, ifMatch }, { keys }) => {
    await keys.revoke(key, keyId, { onlyIfTags: recordTagsIn(ifMatch) })
    return NO_CONTENT
  },
})

export const rotateKey = defineOperation('POST', '/keys/{keyId}/rotate', {
  summary: 'Rotate the secret of an API key',
  description: `Gives a key a new secret. The earlier secrets stay valid for \`graceSeconds\`, and an unused pairing code becomes invalid at once. ${RULES} ${SECRET_ONCE}`,
  permission: 'keys',
  params: { keyId: KeyId('The key.') },
  body: KeyRotation,
  success: { description: 'The key, with its new secret.', schema: KeyWithSecret },
  reply: async ({ params: { keyId }, body, key }, { keys, clock }) => {
    const { graceSeconds = DEFAULT_GRACE_SECONDS } = body
    const issued = await keys.rotate(key, keyId, graceSeconds * SECOND)
    return jsonReply(bodyWithSecret(issued, clock()), NO_STORE)
  },
})

export const createPairingCode = defineOperation('POST', '/keys/{keyId}/pairing-code', {
  summary: 'Create a pairing code',
  description: `Creates a code that signs in a device with this key: see POST /keys/pair. The code is valid for ${PAIRING_CODE_MINUTES} minutes and can be used once. It replaces the earlier code of the key. ${RULES} If the key is paused or expired, the response is 409.`,
  permission: 'keys',
  params: { keyId: KeyId('The key that the device gets.') },
  success: { status: 201, description: 'The code.', schema: PairingCode },
  errors: ['in_use'],
  reply: async ({ params: { keyId }, key, request }, { keys }) => {
    const { code, expiresAt } = await keys.createPairingCode(key, keyId)
    const body = { code: formatPairingCode(code), expiresAt: new Date(expiresAt).toISOString() }
    return jsonReply(body, { Location: request.path, ...NO_STORE }, 201)
  },
})

export const pairKey = defineOperation('POST', '/keys/pair', {
  summary: 'Exchange a pairing code for a key',
  description: `Exchanges a pairing code, sent as the bearer token, for its key. The key gets a new secret, and its earlier secrets stay valid, except that only the newest ${MAX_SECRETS} are kept. ${SECRET_ONCE} The request does not count towards the limits of the key. It counts towards the limit of its address instead, like every request without a valid key.`,
  takesPairingCode: true,
  isExemptFromLimits: true,
  success: { description: 'The key, with its new secret.', schema: KeyWithSecret },
  reply: async ({ secretHash }, { keys, clock }) => {
    const issued = await keys.pair(secretHash)
    // Another request has used the code in the meantime.
    if (issued === undefined) return unauthorizedReply(WRONG_PAIRING_CODE, PAIRING_CODE_ADVICE)
    return jsonReply(bodyWithSecret(issued, clock()), NO_STORE)
  },
})

function readKeyPage(store: Services['store'], query: PageRequest): Promise<Page<KeyRecord>> {
  return readPage(query, {
    positionOf: (cursor) => {
      if (!KEY_ID.test(cursor)) throw unknownCursor(cursor)
      return cursor
    },
    read: async (limit, after) => {
      const records = await store.listKeyPage(limit, after)
      const mayBeUnknown = records.length === 0 && after !== undefined
      if (mayBeUnknown && (await store.findKeyRecord(after)) === undefined) throw unknownCursor(after)
      return records
    },
    cursorOf: ({ key }) => key.id,
  })
}

function requireFuture(expiresAt: number, now: number): number {
  if (expiresAt > now) return expiresAt
  throw invalidField('expiresAt', `expiresAt must be in the future, got ${new Date(expiresAt).toISOString()}`)
}

function toKeyChange(body: Type.Static<typeof KeyUpdate>, now: number): KeyChange {
  const { expiresAt, plan, perMinute, perDay, ...otherFields } = body
  if (plan === undefined)
    requireNoLimits({ perMinute, perDay }, 'limits need "plan": "enterprise" in the same body')
  return {
    ...otherFields,
    ...(plan === undefined ? {} : { allowance: { plan, limits: limitsOfPlan(plan, { perMinute, perDay }) } }),
    ...(expiresAt === undefined
      ? {}
      : { expiresAt: expiresAt === null ? 'never' : requireFuture(expiresAt, now) }),
  }
}

function keyReply(record: KeyRecord, now: number) {
  const body = keyRecordToJson(record, now)
  return jsonReply(body, recordETag(recordTag(KEY_ROW, toKeyRow(record.key)), body))
}

function bodyWithSecret({ record, secret }: IssuedKey, now: number) {
  return { key: keyRecordToJson(record, now), secret }
}
