import {
  isPetstoreError,
  type Key,
  type KeyUpdate,
  type NewKey,
  type PairingCode,
  type PetstoreClient,
} from '@petstore/client'
import { failureWords } from './failure-words.ts'
import { LiveList } from './live-list.ts'

/** The people of the shop, oldest first. Each person, device or program is an API key. */
export class PeopleList extends LiveList<Key> {
  readonly #keys: PetstoreClient['keys']

  constructor(keys: PetstoreClient['keys']) {
    super({
      keyOf: ({ id }) => id,
      compare: (a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt),
      failureWords: peopleFailure,
      load: async () => {
        const items: Key[] = []
        for await (const key of keys.list()) items.push(key)
        return { items }
      },
    })
    this.#keys = keys
  }

  /** Drops the secret of the new key: the person gets another one with a sign-in code. */
  async add(draft: NewKey): Promise<Key> {
    const { key } = await this.#keys.create(draft)
    this.#show(key)
    return key
  }

  async change(keyId: string, update: KeyUpdate): Promise<void> {
    this.#show(await this.#keys.update(keyId, update))
  }

  #show(key: Key): void {
    if (this.get().phase === 'ready') this.put(key)
    else void this.reload()
  }

  async revoke(keyId: string): Promise<void> {
    await this.#keys.revoke(keyId)
    await this.reload()
  }

  /** A code that signs in one more device of the person. `devices` identifies the devices before that. */
  async createCode(keyId: string): Promise<PairingCode & { readonly devices: string }> {
    const code = await this.#keys.createPairingCode(keyId)
    return { ...code, devices: await this.devicesOf(keyId) }
  }

  /** Another text after each sign-in with a code, which adds a secret to the key. */
  async devicesOf(keyId: string): Promise<string> {
    const key = await this.#keys.get(keyId)
    this.put(key)
    return key.secrets.map(({ createdAt, hint }) => `${createdAt} ${hint}`).join()
  }
}

export type PersonState = 'active' | 'paused' | 'expired' | 'revoked'

export function personState({ revokedAt, expiresAt, paused }: Key, now: number): PersonState {
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) return 'expired'
  return paused ? 'paused' : 'active'
}

export function peopleFailure(error: unknown): string {
  if (isPetstoreError(error) && error.mayHaveBeenMade)
    return 'No answer came, so it may have been done. Refresh the list before you try again.'
  return failureWords(error, {
    forbidden: 'You may not do that: nobody gives or takes away more than they have themselves.',
    in_use: 'Somebody must be left who manages people. Give another person the permission People first.',
    not_found: 'This person is not in the list any more.',
  })
}
