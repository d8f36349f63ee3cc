import {
  isPetstoreError,
  type Key,
  type KeyUpdate,
  type NewKey,
  type PairingCode,
  type Permission,
  type PetstoreClient,
} from '@petstore/client'
import { failureWords } from './failure-words.ts'
import { Observable, type Readable } from './observable.ts'

interface PeopleSnapshot {
  readonly phase: 'loading' | 'ready' | 'failed'
  /** The keys of people, devices and programs, oldest first. */
  readonly people: readonly Key[]
  readonly failure: string | undefined
}

/** The people of the shop. Each of them is an API key. */
export class PeopleList implements Readable<PeopleSnapshot> {
  readonly #snapshot = new Observable<PeopleSnapshot>({ phase: 'loading', people: [], failure: undefined })
  readonly #keys: PetstoreClient['keys']
  readonly #signal: AbortSignal

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(keys: PetstoreClient['keys'], signal: AbortSignal) {
    this.#keys = keys
    this.#signal = signal
  }

  /** Never rejects: the snapshot has the failure. */
  readonly refresh = async (): Promise<void> => {
    try {
      const people: Key[] = []
      for await (const key of this.#keys.list({ signal: this.#signal })) people.push(key)
      this.#snapshot.set({ phase: 'ready', people, failure: undefined })
    } catch (error) {
      this.#snapshot.set({ ...this.get(), phase: 'failed', failure: peopleFailure(error) })
    }
  }

  /** Drops the secret of the new key: the person gets another one with a sign-in code. */
  async add(draft: NewKey): Promise<Key> {
    const { key } = await this.#keys.create(draft, { signal: this.#signal })
    this.#put(key)
    return key
  }

  async change(keyId: string, update: KeyUpdate): Promise<void> {
    this.#put(await this.#keys.update(keyId, update, { signal: this.#signal }))
  }

  async revoke(keyId: string): Promise<void> {
    await this.#keys.revoke(keyId, { signal: this.#signal })
    await this.refresh()
  }

  /** A code that signs in one more device of the person. `devices` identifies the devices before that. */
  async createCode(keyId: string): Promise<PairingCode & { readonly devices: string }> {
    const code = await this.#keys.createPairingCode(keyId, { signal: this.#signal })
    return { ...code, devices: await this.devicesOf(keyId) }
  }

  /** Another text after each sign-in with a code, which adds a secret to the key. */
  async devicesOf(keyId: string): Promise<string> {
    const key = await this.#keys.get(keyId, { signal: this.#signal })
    this.#put(key)
    return key.secrets.map(({ createdAt, hint }) => `${createdAt} ${hint}`).join()
  }

  #put(key: Key): void {
    const { people } = this.get()
    const isKnown = people.some(({ id }) => id === key.id)
    const next = isKnown ? people.map((person) => (person.id === key.id ? key : person)) : [...people, key]
    this.#snapshot.set({ ...this.get(), people: next })
  }
}

/** What a person may change, in the words of the shop. */
export const PERMISSION_WORDS: Readonly<Record<Permission, string>> = {
  stock: 'Stock',
  orders: 'Orders',
  pets: 'Pets',
  webhooks: 'Webhooks',
  keys: 'People',
}
export const ALL_PERMISSIONS: readonly Permission[] = ['stock', 'orders', 'pets', 'webhooks', 'keys']

export function permissionWords(permissions: readonly Permission[]): string {
  if (permissions.length === 0) return 'May only look'
  if (permissions.length === ALL_PERMISSIONS.length) return 'May change everything'
  const words = ALL_PERMISSIONS.filter((one) => permissions.includes(one)).map((one) => PERMISSION_WORDS[one])
  return `May change ${words.join(', ').toLowerCase()}`
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
  if (isPetstoreError(error, 'forbidden'))
    return 'You may not do that: nobody gives or takes away more than they have themselves.'
  if (isPetstoreError(error, 'in_use'))
    return 'You are the only person who manages people. Give somebody else the permission People first.'
  if (isPetstoreError(error, 'not_found')) return 'This person is not in the list any more.'
  return failureWords(error)
}
