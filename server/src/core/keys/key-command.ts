import { notFound, ServiceError } from '../values/errors.ts'
import {
  type ApiKey,
  formatAllowance,
  type KeyChange,
  keyState,
  PLANS,
  requirePermission,
  type StoredSecret,
} from './api-key.ts'
import type { StoredPairingCode } from './pairing.ts'

export type KeyCommand =
  | { readonly type: 'create'; readonly key: ApiKey; readonly secret: StoredSecret }
  | { readonly type: 'change'; readonly keyId: string; readonly change: KeyChange }
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
  | { readonly type: 'revoke'; readonly keyId: string }
  /** Replaces the earlier pairing code of the key. */
  | { readonly type: 'create_pairing_code'; readonly keyId: string; readonly code: StoredPairingCode }

/** The keys that a decision depends on. They are locked until the commit. */
interface LockedKeys {
  readonly actor: ApiKey | undefined
  readonly target: ApiKey | undefined
  /** Every key with the permission `keys`. */
  readonly managers: readonly ApiKey[]
}

/**
 * Throws if the actor may not run the command. A key can manage only keys whose permissions it has. It can grant only its own
 * permissions, and no higher plan, higher limit or later expiry than its own. The only active key with the permission `keys`
 * cannot give up the permission, nor revoke, pause or expire itself, so no command leaves the store without an active key that
 * manages keys.
 */
export function requireAllowed(command: KeyCommand, keys: LockedKeys, at: number): void {
  const actor = requireManager(keys.actor, at)
  if (command.type === 'create') {
    requireGrantable(actor, grantOf(command.key))
    return
  }
  const target = requireUnrevoked(command.keyId, keys.target)
  requireManageable(actor, target)
  switch (command.type) {
    case 'change':
      requireGrantable(actor, command.change)
      if (endsManagement(command.change)) requireRemainingManager(actor, target, keys.managers, at)
      return
    // A rotation and a pairing code hand out a secret, which grants everything that the key has.
    case 'rotate':
      requireGrantable(actor, grantOf(target))
      return
    case 'create_pairing_code':
      requireGrantable(actor, grantOf(target))
      requireActive(target, at)
      return
    case 'revoke':
      requireRemainingManager(actor, target, keys.managers, at)
  }
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

type Grant = Pick<KeyChange, 'permissions' | 'allowance' | 'expiresAt'>

function grantOf(key: ApiKey): Grant {
  return { permissions: key.permissions, allowance: key, expiresAt: key.expiresAt ?? 'never' }
}

function requireGrantable(actor: ApiKey, { permissions = [], allowance, expiresAt }: Grant): void {
  const missing = permissions.find((permission) => !actor.permissions.includes(permission))
  if (missing !== undefined) {
    throw forbidden(`this key may not grant the permission "${missing}", which it lacks`)
  }
  if (allowance !== undefined && exceeds(allowance, actor)) {
    throw forbidden(
      `this key may not grant ${formatAllowance(allowance)}, which is more than its own ${formatAllowance(actor)}`,
    )
  }
  if (expiresAt === undefined || actor.expiresAt === undefined) return
  if (expiresAt === 'never' || expiresAt > actor.expiresAt) {
    const ownExpiry = new Date(actor.expiresAt).toISOString()
    throw forbidden(`this key expires at ${ownExpiry} and may not grant access beyond that time`)
  }
}

function exceeds(one: Pick<ApiKey, 'plan' | 'limits'>, other: Pick<ApiKey, 'plan' | 'limits'>): boolean {
  return (
    PLANS.indexOf(one.plan) > PLANS.indexOf(other.plan) ||
    one.limits.perMinute > other.limits.perMinute ||
    one.limits.perDay > other.limits.perDay
  )
}

function endsManagement({ paused, permissions, expiresAt }: KeyChange): boolean {
  return paused === true || permissions?.includes('keys') === false || typeof expiresAt === 'number'
}

/** Ensures that an active key can still manage keys. If the target is another key, the actor remains. */
function requireRemainingManager(
  actor: ApiKey,
  target: ApiKey,
  managers: readonly ApiKey[],
  at: number,
): void {
  const hasOther = managers.some((key) => key.id !== actor.id && keyState(key, at) === 'active')
  if (target.id !== actor.id || hasOther) return
  throw new ServiceError(
    'in_use',
    'this is the only active key with the permission "keys"; give the permission to another key first',
  )
}

function forbidden(message: string): ServiceError {
  return new ServiceError('forbidden', message)
}
