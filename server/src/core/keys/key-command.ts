import { notFound, ServiceError } from '../values/errors.ts'
import { allowsRecord, recordChanged, type TagCondition } from '../values/record-tag.ts'
import {
  type ApiKey,
  changedKey,
  formatAllowance,
  KEY_ROW,
  type KeyChange,
  keyState,
  PLANS,
  requirePermission,
  type StoredSecret,
  toKeyRow,
} from './api-key.ts'
import type { StoredPairingCode } from './pairing.ts'

export type KeyCommand =
  | { readonly type: 'create'; readonly key: ApiKey; readonly secret: StoredSecret }
  | ({ readonly type: 'change'; readonly keyId: string; readonly change: KeyChange } & TagCondition)
  /**
   * Adds a secret. The earlier secrets expire at `earlierSecretsEndAt` at the latest, or are deleted if `earlierSecretsEndAt`
   * is not in the future.
   */
  | {
      readonly type: 'rotate'
      readonly keyId: string
      readonly secret: StoredSecret
      readonly earlierSecretsEndAt: number
    }
  | ({ readonly type: 'revoke'; readonly keyId: string } & TagCondition)
  /** Replaces the earlier pairing code of the key. */
  | { readonly type: 'create_pairing_code'; readonly keyId: string; readonly code: StoredPairingCode }

/** The author of a command: a key, over HTTP, or the operator, a user of the machine who runs `petstore keys`. */
export type KeyActor =
  | { readonly type: 'key'; readonly id: string }
  | { readonly type: 'operator'; readonly name: string }

/** The keys that a decision depends on. They are locked until the commit. */
interface LockedKeys {
  /** The key that runs the command; undefined for the operator, and if the key does not exist. */
  readonly actor: ApiKey | undefined
  readonly target: ApiKey | undefined
  /** Every key with the permission `keys`. */
  readonly managers: readonly ApiKey[]
}

/** Throws if the actor may not run the command, or if the state of the keys forbids it. */
export function requireAllowed(actor: KeyActor, command: KeyCommand, keys: LockedKeys, at: number): void {
  // The operator may do everything that a key with all permissions may do.
  const manager = actor.type === 'key' ? requireManager(keys.actor, at) : undefined
  if (command.type === 'create') {
    if (manager !== undefined) requireGrantable(manager, command.key)
    return
  }
  const target = requireUnrevoked(command.keyId, keys.target)
  if (manager !== undefined) requireWithinManager(manager, command, target, at)
  switch (command.type) {
    case 'change':
    case 'revoke': {
      requireTag(command, target)
      const after = command.type === 'revoke' ? undefined : changedKey(target, command.change, at)
      requireRemainingManager(target, after, keys.managers)
      return
    }
    case 'create_pairing_code':
      requireActive(target, at)
      return
    case 'rotate':
  }
}

/**
 * A key manages only keys whose permissions it has. After the command, the target has no permission that the manager lacks, and
 * no higher plan, higher limit or later expiry than the manager, unless the command only takes away. A rotation and a pairing
 * code hand out a secret, which grants everything that the target has.
 */
function requireWithinManager(
  manager: ApiKey,
  command: Exclude<KeyCommand, { readonly type: 'create' }>,
  target: ApiKey,
  at: number,
): void {
  requireManageable(manager, target)
  if (command.type === 'revoke') return
  const after = command.type === 'change' ? changedKey(target, command.change, at) : target
  const handsOutSecret = command.type !== 'change'
  if (handsOutSecret || !onlyTakesAway(target, after)) requireGrantable(manager, after)
}

function requireTag(condition: TagCondition, key: ApiKey): void {
  if (!allowsRecord(condition, KEY_ROW, toKeyRow(key))) throw recordChanged(key.id)
}

/** Throws if the store would be left without an unpaused key that manages keys and never expires. `after` is undefined if the key is revoked. */
function requireRemainingManager(
  before: ApiKey,
  after: ApiKey | undefined,
  managers: readonly ApiKey[],
): void {
  if (!managesForever(before) || (after !== undefined && managesForever(after))) return
  if (managers.some((key) => key.id !== before.id && managesForever(key))) return
  throw new ServiceError(
    'in_use',
    `${before.id} is the only unpaused key without expiry that has the permission "keys"; create or change another key so that it has all of this first`,
  )
}

function managesForever({ permissions, expiresAt, pausedAt, revokedAt }: ApiKey): boolean {
  const hasEnd = expiresAt !== undefined || pausedAt !== undefined || revokedAt !== undefined
  return permissions.includes('keys') && !hasEnd
}

/** The actor may have been changed after its request was authenticated. */
function requireManager(actor: ApiKey | undefined, at: number): ApiKey {
  if (actor === undefined) throw forbidden('this key no longer exists')
  const state = keyState(actor, at)
  if (state !== 'active') throw forbidden(`this key is ${state}`)
  requirePermission(actor, 'keys')
  return actor
}

function requireUnrevoked(keyId: string, key: ApiKey | undefined): ApiKey {
  if (key === undefined) throw keyNotFound(keyId)
  if (key.revokedAt === undefined) return key
  throw notFound(`${keyId} is revoked, which is permanent; create a new key`)
}

function requireActive(key: ApiKey, at: number): void {
  const state = keyState(key, at)
  if (state === 'active') return
  const advice =
    state === 'paused'
      ? 'resume it first: PATCH /keys/{keyId} with "paused": false'
      : 'give it a later expiry first: PATCH /keys/{keyId} with "expiresAt"'
  throw new ServiceError('in_use', `${key.id} is ${state}, so a code for it would not work; ${advice}`)
}

export function keyNotFound(keyId: string): ServiceError {
  return notFound(`there is no key ${keyId}; GET /keys lists all keys`)
}

function requireManageable(actor: ApiKey, target: ApiKey): void {
  const missing = target.permissions.find((permission) => !actor.permissions.includes(permission))
  if (missing === undefined) return
  throw forbidden(
    `this key lacks the permission "${missing}", so it may not manage ${target.id}, which has that permission`,
  )
}

/** Whether the key has nothing after the change that it did not have before. A new name counts as new. */
function onlyTakesAway(before: ApiKey, after: ApiKey): boolean {
  const isResumed = before.pausedAt !== undefined && after.pausedAt === undefined
  return (
    before.name === after.name &&
    !isResumed &&
    after.permissions.every((permission) => before.permissions.includes(permission)) &&
    !exceeds(after, before) &&
    !outlives(after, before)
  )
}

/** Throws if the key has more than the actor. */
function requireGrantable(actor: ApiKey, key: ApiKey): void {
  const missing = key.permissions.find((permission) => !actor.permissions.includes(permission))
  if (missing !== undefined) {
    throw forbidden(`this key may not grant the permission "${missing}", which it lacks`)
  }
  if (exceeds(key, actor)) {
    throw forbidden(
      `this key may not grant ${formatAllowance(key)}, which is more than its own ${formatAllowance(actor)}`,
    )
  }
  if (actor.expiresAt !== undefined && outlives(key, actor)) {
    const ownExpiry = new Date(actor.expiresAt).toISOString()
    throw forbidden(`this key expires at ${ownExpiry} and may not grant access beyond that time`)
  }
}

function outlives(one: ApiKey, other: ApiKey): boolean {
  return (one.expiresAt ?? Number.POSITIVE_INFINITY) > (other.expiresAt ?? Number.POSITIVE_INFINITY)
}

function exceeds(one: ApiKey, other: ApiKey): boolean {
  return (
    PLANS.indexOf(one.plan) > PLANS.indexOf(other.plan) ||
    one.limits.perMinute > other.limits.perMinute ||
    one.limits.perDay > other.limits.perDay
  )
}

function forbidden(message: string): ServiceError {
  return new ServiceError('forbidden', message)
}
