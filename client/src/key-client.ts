import type {
  Key,
  KeyRotation,
  KeyUpdate,
  KeyWithSecret,
  NewKey,
  PairedKey,
  PairingCode,
} from './contract-types.ts'
import { type CallOptions, callForValue, callOperation } from './operation-call.ts'
import { allItems, type Page, type PageOptions, pageOf } from './pages.ts'
import type { Transport } from './transport.ts'
import { WebhookClient } from './webhook-client.ts'

/** API keys and pairing codes. Requests that create a secret are not idempotent. */
export class KeyClient extends WebhookClient {
  readonly #calls: Transport

  constructor(transport: Transport) {
    super(transport)
    this.#calls = transport
  }

  /** A page of keys, oldest first. */
  async listKeys({ limit, cursor, signal }: PageOptions = {}): Promise<Page<Key>> {
    const { value, headers } = await callForValue(this.#calls, 'listKeys', {
      query: { limit, cursor },
      signal,
    })
    return pageOf(value, headers)
  }

  allKeys({ signal }: CallOptions = {}): AsyncIterable<Key> {
    return allItems((cursor) => this.listKeys({ limit: 1_000, cursor, signal }))
  }

  async getKey(keyId: string, { signal }: CallOptions = {}): Promise<Key> {
    return (await callForValue(this.#calls, 'getKey', { params: { keyId }, signal })).value
  }

  /** Only this answer has the secret. The request is not sent again if its answer is lost. */
  async createKey(key: NewKey, { signal }: CallOptions = {}): Promise<KeyWithSecret> {
    return (await callForValue(this.#calls, 'createKey', { body: key, signal, isSentOnce: true })).value
  }

  async updateKey(keyId: string, update: KeyUpdate, { signal }: CallOptions = {}): Promise<Key> {
    return (await callForValue(this.#calls, 'updateKey', { params: { keyId }, body: update, signal })).value
  }

  /** Revokes the key permanently. */
  async revokeKey(keyId: string, { signal }: CallOptions = {}): Promise<void> {
    await callOperation(this.#calls, 'revokeKey', { params: { keyId }, signal })
  }

  async rotateKey(
    keyId: string,
    rotation: KeyRotation = {},
    { signal }: CallOptions = {},
  ): Promise<KeyWithSecret> {
    return (await callForValue(this.#calls, 'rotateKey', { params: { keyId }, body: rotation, signal })).value
  }

  async createPairingCode(keyId: string, { signal }: CallOptions = {}): Promise<PairingCode> {
    return (await callForValue(this.#calls, 'createPairingCode', { params: { keyId }, signal })).value
  }

  /** Exchanges the pairing code that this client has as its `apiKey`. The code can be used once. */
  async pairKey({ signal }: CallOptions = {}): Promise<PairedKey> {
    return (await callForValue(this.#calls, 'pairKey', { signal, isSentOnce: true })).value
  }
}
