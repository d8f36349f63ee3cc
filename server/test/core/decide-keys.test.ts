import { describe, expect, test } from 'bun:test'
import { type ApiKey, type KeyChange, PERMISSIONS, PLAN_LIMITS } from '../../src/core/keys/api-key.ts'
import { type KeyCommand, requireAllowed } from '../../src/core/keys/key-command.ts'
import type { ServiceError } from '../../src/core/values/errors.ts'

const AT = 1_000
const SECRET = { hash: 'h', hint: '…', createdAt: AT }
const TILL: ApiKey = {
  id: 'key_till',
  name: 'Till',
  plan: 'free',
  limits: PLAN_LIMITS.free,
  permissions: ['stock'],
  createdAt: 0,
}
const BUSINESS = { plan: 'business', limits: PLAN_LIMITS.business } as const
/** Weaker than an owner. */
const MANAGER: ApiKey = {
  ...TILL,
  id: 'key_manager',
  plan: 'pro',
  limits: PLAN_LIMITS.pro,
  permissions: ['stock', 'orders', 'keys'],
}
const OWNER: ApiKey = { ...MANAGER, id: 'key_owner', permissions: PERMISSIONS }

interface Keys {
  readonly actor?: Partial<ApiKey>
  readonly target?: Partial<ApiKey>
}

const create = (key: Partial<ApiKey>): KeyCommand => ({
  type: 'create',
  key: { ...TILL, ...key },
  secret: SECRET,
})
const change = (keyChange: KeyChange): KeyCommand => ({ type: 'change', keyId: TILL.id, change: keyChange })
const revoke: KeyCommand = { type: 'revoke', keyId: TILL.id }
const rotate: KeyCommand = { type: 'rotate', keyId: TILL.id, secret: SECRET, earlierSecretsEndAt: AT }
const pairingCode: KeyCommand = {
  type: 'create_pairing_code',
  keyId: TILL.id,
  code: { hash: 'c', expiresAt: AT + 1 },
}

/** `allowed`, or the code and the message of the refusal. */
function decision(command: KeyCommand, { actor = {}, target = {} }: Keys = {}, managers = [OWNER]): string {
  const keys = { actor: { ...MANAGER, ...actor }, target: { ...TILL, ...target }, managers }
  try {
    requireAllowed({ type: 'key', id: MANAGER.id }, command, keys, AT)
    return 'allowed'
  } catch (error) {
    const { code, message } = error as ServiceError
    return `${code}: ${message}`
  }
}

const expiresAt = AT + 60
const enterprise = (perMinute: number, perDay: number) => ({
  plan: 'enterprise' as const,
  limits: { perMinute, perDay },
})
const ENTERPRISE = { actor: enterprise(10, 100) }

const ENDING = { actor: { expiresAt } }
const BOTH_END = { ...ENDING, target: { expiresAt } }
const STRONGER = { target: BUSINESS }
const NO_CODE = 'so a code for it would not work;'

describe('a manager of keys', () => {
  test.each<[title: string, KeyCommand, Keys]>([
    ['creates a key within its own permissions and plan', create({}), {}],
    ['grants as many requests as it has', create(enterprise(10, 100)), ENTERPRISE],
    ['grants access until it expires', create({ expiresAt }), ENDING],
    ['renames a key', change({ name: 'Desk' }), {}],
    ['may pause a stronger key', change({ paused: true }), STRONGER],
    ['may take from a stronger key', change({ permissions: [], allowance: TILL }), STRONGER],
    ['may revoke a stronger key', revoke, STRONGER],
  ])('%s', (_, command, keys) => {
    expect(decision(command, keys)).toBe('allowed')
  })

  test.each<[title: string, KeyCommand, Keys, message: string]>([
    ['a permission that it lacks', create({ permissions: ['webhooks'] }), {}, 'may not grant the permission'],
    ['a higher plan', create(BUSINESS), {}, 'may not grant business'],
    ['more requests a minute', create(enterprise(11, 100)), ENTERPRISE, 'enterprise (11 a minute'],
    ['more requests a day', create(enterprise(10, 101)), ENTERPRISE, 'more than its own enterprise'],
    ['access without end if it expires', create({}), ENDING, 'this key expires at'],
    ['access that outlives it', create({ expiresAt: expiresAt + 1 }), ENDING, 'beyond that time'],
    ['a code that outlives it', pairingCode, ENDING, 'beyond that time'],
    [
      'to an existing key a permission',
      change({ permissions: ['webhooks'] }),
      {},
      'the permission "webhooks"',
    ],
    ['to an existing key a plan', change({ allowance: BUSINESS }), {}, 'may not grant business'],
    ['to an existing key more time', change({ expiresAt: 'never' }), BOTH_END, 'beyond that time'],
    ['itself a secret of a stronger key', rotate, STRONGER, 'may not grant business'],
    ['itself a code of a stronger key', pairingCode, STRONGER, 'may not grant business'],
    ['a stronger key a new name', change({ name: 'Mine' }), STRONGER, 'business'],
    ['a stronger key more', change({ permissions: ['orders'], paused: true }), STRONGER, 'business'],
    ['a paused stronger key back', change({ paused: false }), { target: { ...BUSINESS, pausedAt: 1 } }, ''],
    ['anything without the permission', revoke, { actor: { permissions: [] } }, 'the permission "keys"'],
    ['anything while it is paused', revoke, { actor: { pausedAt: 1 } }, 'this key is paused'],
    ['anything after it has expired', revoke, { actor: { expiresAt: AT } }, 'this key is expired'],
  ])('does not give %s', (_, command, keys, message) => {
    const refused = decision(command, keys)
    expect(refused).toStartWith('forbidden: ')
    expect(refused).toContain(message)
  })

  test('changes no revoked key, and creates no code for a key that is paused or expired', () => {
    const target = (facts: Partial<ApiKey>) => ({ target: facts })
    const changed = decision(change({ paused: false }), target({ revokedAt: 1 }))
    expect(changed).toStartWith('not_found: key_till is revoked, which is permanent')
    const paused = decision(pairingCode, target({ pausedAt: 1 }))
    expect(paused).toStartWith(`in_use: key_till is paused, ${NO_CODE} resume it first`)
    const expired = decision(pairingCode, target({ expiresAt: AT }))
    expect(expired).toStartWith(`in_use: key_till is expired, ${NO_CODE} give it a later expiry first`)
  })

  test.each([
    ...[change({ name: 'Mine' }), change({ paused: true }), change({ permissions: [] })],
    ...[revoke, rotate, pairingCode],
  ])('manages no key with a permission that it lacks: %j', (command) => {
    const target = { permissions: ['stock', 'webhooks'] } as const
    expect(decision(command, { target })).toMatch(/^forbidden: .*"webhooks".* may not manage key_till/)
  })
})

describe('the last key that manages keys', () => {
  const ENDS = [revoke, ...[{ paused: true }, { permissions: [] }, { expiresAt }].map(change)]
  const target = { permissions: ['keys'] } as const
  const last: ApiKey = { ...TILL, ...target }

  test.each(ENDS)('stays: %j', (command) => {
    for (const other of [
      { pausedAt: 1 },
      { revokedAt: 1 },
      { expiresAt },
      { permissions: ['stock'] as const },
    ]) {
      expect(decision(command, { target }, [last, { ...OWNER, ...other }])).toStartWith(
        'in_use: key_till is the only',
      )
    }
    expect(decision(command, { target }, [last, OWNER])).toBe('allowed')
  })

  test('can be renamed, and a key that would end anyway can be revoked', () => {
    expect(decision(change({ name: 'Owner' }), { target }, [last])).toBe('allowed')
    expect(decision(revoke, { target: { ...target, expiresAt } }, [last])).toBe('allowed')
  })

  test('stays also if the operator would end it', () => {
    const run = () =>
      requireAllowed(
        { type: 'operator', name: 'anna' },
        revoke,
        { actor: undefined, target: last, managers: [last] },
        AT,
      )
    expect(run).toThrow('key_till is the only unpaused key without expiry')
  })
})
