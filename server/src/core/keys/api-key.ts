import { hash, randomInt } from 'node:crypto'
import Type from 'typebox'
import { ServiceError } from '../values/errors.ts'
import { DateTime, invalidField, OneOf, type RecordOf } from '../values/field.ts'

export type KeyEnvironment = 'production' | 'staging'

/** The number of requests that a key may make per window. */
export interface Limits {
  readonly perMinute: number
  readonly perDay: number
}

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Enterprise is missing: its limits are agreed for each key. */
export const PLAN_LIMITS: Readonly<Record<Exclude<Plan, 'enterprise'>, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
}

/** The limits of a new or changed key. Only an enterprise key has its own limits, and it needs both. */
export function limitsOfPlan(plan: Plan, { perMinute, perDay }: OwnLimits): Limits {
  if (plan !== 'enterprise') {
    requireNoLimits({ perMinute, perDay }, `the limits of the ${plan} plan are fixed`)
    return PLAN_LIMITS[plan]
  }
  if (perMinute === undefined) throw missingLimit('perMinute')
  if (perDay === undefined) throw missingLimit('perDay')
  return { perMinute, perDay }
}

interface OwnLimits {
  readonly perMinute?: number | undefined
  readonly perDay?: number | undefined
}

export function requireNoLimits({ perMinute, perDay }: OwnLimits, reason: string): void {
  if (perMinute === undefined && perDay === undefined) return
  const field = perMinute === undefined ? 'perDay' : 'perMinute'
  throw invalidField(field, `${field} is not allowed: ${reason}`)
}

function missingLimit(field: keyof Limits): ServiceError {
  return invalidField(field, `${field} is missing; an enterprise key needs it`)
}

/** The subjects that a key can be allowed to change, in display order. Every key can read stock, orders and pets. */
export const PERMISSIONS = ['stock', 'orders', 'pets', 'webhooks', 'keys'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** The permissions of a new key if none are given. Webhooks, which send data elsewhere, and keys are always granted explicitly. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = ['stock', 'orders', 'pets']

/** A key as it is stored. Each of its secrets is displayed once, and only its hash and hint are stored. */
export const KEY_ROW = {
  id: Type.String({ description: 'Public: logs and the history show it.' }),
  name: Type.String(),
  plan: OneOf(PLANS, {}),
  perMinute: Type.Integer(),
  perDay: Type.Integer(),
  permissions: Type.String({ description: 'The text of `formatPermissions`.' }),
  createdAt: DateTime('When the key was created.'),
  expiresAt: Type.Optional(DateTime('When the key expires; absent if it never expires.')),
  revokedAt: Type.Optional(DateTime('When the key was revoked; absent if it was not.')),
  pausedAt: Type.Optional(DateTime('When the key was paused; absent if it is not paused.')),
}
export type KeyRow = RecordOf<typeof KEY_ROW>

export interface ApiKey extends Omit<KeyRow, 'perMinute' | 'perDay' | 'permissions'> {
  readonly limits: Limits
  /** A key without permissions can only read. */
  readonly permissions: readonly Permission[]
}

export function toKeyRow({ limits, permissions, ...fields }: ApiKey): KeyRow {
  return { ...fields, ...limits, permissions: formatPermissions(permissions) }
}

export function fromKeyRow({ perMinute, perDay, permissions, ...fields }: KeyRow): ApiKey {
  return { ...fields, limits: { perMinute, perDay }, permissions: parsePermissions(permissions) }
}

export function createKeyId(): string {
  return `key_${randomText(ALPHABET, 16)}`
}

/** `unknown` if there is no key. */
export function keyState(
  key: Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'pausedAt'> | undefined,
  now: number,
): 'active' | 'paused' | 'expired' | 'revoked' | 'unknown' {
  if (key === undefined) return 'unknown'
  // Does not compare with `now`: a clock that is set back must not reactivate a revoked key.
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt !== undefined && key.expiresAt <= now) return 'expired'
  return key.pausedAt === undefined ? 'active' : 'paused'
}

/** The format in the database, on the command line and in messages: `stock,orders` or `none`. */
export function formatPermissions(permissions: readonly Permission[]): string {
  return permissions.length === 0 ? 'none' : permissions.join()
}

/** Ignores unknown names: a later version of the service may have stored them. */
export function parsePermissions(text: string): readonly Permission[] {
  const names = text.split(',')
  return PERMISSIONS.filter((permission) => names.includes(permission))
}

const PERMITTED_ACTIONS: Readonly<Record<Permission, string>> = {
  stock: 'change the stock',
  orders: 'change orders',
  pets: 'change pets and categories',
  webhooks: 'read or change webhooks',
  keys: 'read or change keys',
}

type PermittedKey = Pick<ApiKey, 'id' | 'permissions'>

export function requirePermission(key: PermittedKey, needed: Permission): void {
  if (!key.permissions.includes(needed)) throw permissionError(key, needed)
}

/** The error for a key that lacks a permission. */
export function permissionError({ id, permissions }: PermittedKey, needed: Permission): ServiceError {
  const withNeeded = PERMISSIONS.filter((each) => each === needed || permissions.includes(each))
  return new ServiceError(
    'forbidden',
    `this key may not ${PERMITTED_ACTIONS[needed]}: it needs the permission "${needed}" (People on the staff page, or PATCH /keys/${id} with "permissions": ${JSON.stringify(withNeeded)})`,
  )
}

/** The fields to change. The plan and its limits change together, as `allowance`. */
export interface KeyChange extends Partial<Pick<ApiKey, 'name' | 'permissions'>> {
  readonly allowance?: Pick<ApiKey, 'plan' | 'limits'>
  readonly expiresAt?: number | 'never'
  readonly paused?: boolean
}

/** The key as it is after the change. A pause keeps the time of an earlier pause. */
export function changedKey(key: ApiKey, change: KeyChange, at: number): ApiKey {
  const { name = key.name, permissions = key.permissions, allowance = key } = change
  const { expiresAt = key.expiresAt ?? 'never', paused = key.pausedAt !== undefined } = change
  const { expiresAt: _, pausedAt = at, ...otherFields } = key
  return {
    ...otherFields,
    name,
    permissions,
    plan: allowance.plan,
    limits: allowance.limits,
    ...(expiresAt === 'never' ? {} : { expiresAt }),
    ...(paused ? { pausedAt } : {}),
  }
}

/** One line for each field that changes, with its old and new value. */
export function describeKeyChange(key: ApiKey, change: KeyChange): string[] {
  const { name, allowance, permissions, expiresAt, paused } = change
  const formatExpiry = (time: number | 'never') => (time === 'never' ? time : new Date(time).toISOString())
  return [
    ...describeDifference('name', key.name, name, (text) => `"${text}"`),
    ...describeDifference('plan', key, allowance, formatAllowance),
    ...describeDifference('may', key.permissions, permissions, formatPermissions),
    ...describeDifference('expires', key.expiresAt ?? 'never', expiresAt, formatExpiry),
    ...describeDifference('paused', key.pausedAt !== undefined, paused, (isPaused) =>
      isPaused ? 'yes' : 'no',
    ),
  ]
}

function describeDifference<Value>(
  field: string,
  before: Value,
  after: Value | undefined,
  format: (value: Value) => string,
): string[] {
  if (after === undefined || format(before) === format(after)) return []
  return [`${field}: ${format(before)} → ${format(after)}`]
}

export function formatAllowance({ plan, limits }: Pick<ApiKey, 'plan' | 'limits'>): string {
  return `${plan} (${limits.perMinute} a minute, ${limits.perDay} a day)`
}

/** A secret as it is stored. Requests are matched by the hash; people recognise the secret by the hint. */
export const STORED_SECRET = {
  hash: Type.String(),
  hint: Type.String(),
  createdAt: DateTime('When the secret was created.'),
  expiresAt: Type.Optional(DateTime('When the secret expires; absent if it expires with its key.')),
}
export type StoredSecret = RecordOf<typeof STORED_SECRET>

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX: Readonly<Record<KeyEnvironment, string>> = { production: 'pst_live_', staging: 'pst_test_' }
const SECRET_FORMAT = /^(pst_(?:live|test)_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/
/** Also matches a secret with percent-encoded underscores, as it may occur in a path. */
const SECRET_IN_TEXT = /pst(?:_|%5f)(live|test)(?:_|%5f)[0-9A-Za-z]+/gi

/** 30 random base62 characters (178 bits), then a checksum that detects a mistyped secret without a lookup. */
export function createSecret(environment: KeyEnvironment): string {
  const body = PREFIX[environment] + randomText(ALPHABET, 30)
  return body + checksum(body)
}

export function isWellFormedSecret(secret: string): boolean {
  const [, body, sum] = SECRET_FORMAT.exec(secret) ?? []
  return body !== undefined && checksum(body) === sum
}

/** One round of SHA-256 is enough for random secrets. Callers cannot choose the hash, so the lookup time reveals nothing. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Removes secrets from a text that is logged or sent. */
export function hideSecrets(text: string): string {
  return text.replace(SECRET_IN_TEXT, 'pst_$1_[hidden]')
}

export function toStoredSecret(secret: string, createdAt: number): StoredSecret {
  // Enough to recognise the secret, but too little to use it.
  const hint = `${secret.slice(0, 9)}…${secret.slice(-4)}`
  return { hash: hashSecret(secret), hint, createdAt }
}

function checksum(body: string): string {
  let number = Bun.hash.crc32(body)
  let digits = ''
  while (digits.length < 6) {
    digits = ALPHABET.charAt(number % 62) + digits
    number = Math.floor(number / 62)
  }
  return digits
}

export function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('')
}
