import type { CallOptions, Condition } from './options.ts'
import type { Api, BodyOf, Query } from './request.ts'

export type Keys = ReturnType<typeof createKeys>

/** API keys of people, devices and programs. Except for `names`, the key of the client needs the permission `keys`. */
export function createKeys(api: Api<'bigint'>) {
  return {
    /** Keys, oldest first. */
    list: (options: Query<'listKeys'> & CallOptions = {}) => api.list('listKeys', options),

    /** The names of all keys by id, also of revoked ones. Needs no permission. */
    names: (options: Query<'listKeyNames'> & CallOptions = {}) => api.list('listKeyNames', options),

    get: (keyId: string, options: CallOptions = {}) => api.value('getKey', { params: { keyId } }, options),

    /** What was done with a key and its webhooks, and by whom, newest first. */
    audit: (keyId: string, options: Query<'listKeyAudit'> & CallOptions = {}) =>
      api.list('listKeyAudit', options, { keyId }),

    /**
     * Returns the secret, which the service does not show again. A request without a response is not retried by default,
     * because it may have created a key.
     */
    create: (key: BodyOf<'createKey'>, options: CallOptions = {}) =>
      api.value('createKey', { body: key }, { retries: 0, ...options }),

    /** Changes the given fields. `{ paused: true }` pauses the key, `{ expiresAt: null }` clears its expiry. */
    update: (keyId: string, change: BodyOf<'updateKey'>, options: CallOptions & Condition = {}) =>
      api.value('updateKey', { params: { keyId }, body: change }, options),

    /** Revokes a key permanently. */
    revoke: (keyId: string, options: CallOptions & Condition = {}) =>
      api.done('revokeKey', { params: { keyId } }, options),

    /**
     * Returns a new secret. The earlier secrets stay valid for `graceSeconds`, a day by default. Not retried by default, like
     * `create`.
     */
    rotate: (keyId: string, rotation: BodyOf<'rotateKey'> = {}, options: CallOptions = {}) =>
      api.value('rotateKey', { params: { keyId }, body: rotation }, { retries: 0, ...options }),

    /** Returns a code that signs in a device with this key. Not retried by default: each code replaces the one before. */
    createPairingCode: (keyId: string, options: CallOptions = {}) =>
      api.value('createPairingCode', { params: { keyId } }, { retries: 0, ...options }),

    /** Exchanges the pairing code that the client has as `apiKey` for the key of the code. A code works once. */
    pair: (options: CallOptions = {}) => api.value('pairKey', {}, { retries: 0, ...options }),
  }
}
