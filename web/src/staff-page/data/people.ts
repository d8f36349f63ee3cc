import {
  isPetstoreError,
  type Key,
  type KeyUpdate,
  type NewKey,
  type PairingCode,
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

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(keys: PetstoreClient['keys']) {
    this.#keys = keys
  }

  /** Never rejects: the snapshot has the failure. */
  readonly refresh = async (): Promise<void> => {
    try {
      const people: Key[] = []
      for await (const key of this.#keys.list()) people.push(key)
      this.#snapshot.set({ phase: 'ready', people, failure: undefined })
    } catch (error) {
      this.#snapshot.set({ ...this.get(), phase: 'failed', failure: peopleFailure(error) })
    }
  }

  /** Drops the secret of the new key: the person gets another one with a sign-in code. */
  async add(draft: NewKey): Promise<Key> {
    const { key } = await this.#keys.create(draft)
    this.#put(key)
    return key
  }

  async change(keyId: string, update: KeyUpdate): Promise<void> {
    this.#put(await this.#keys.update(keyId, update))
  }

  async revoke(keyId: string): Promise<void> {
    await this.#keys.revoke(keyId)
    await this.refresh()
  }

  /** A code that signs in one more device of the person. `devices` identifies the devices before that. */
  async createCode(keyId: string): Promise<PairingCode & { readonly devices: string }> {
    const code = await this.#keys.createPairingCode(keyId)
    return { ...code, devices: await this.devicesOf(keyId) }
  }

  /** Another text after each sign-in with a code, which adds a secret to the key. */
  async devicesOf(keyId: string): Promise<string> {
    const key = await this.#keys.get(keyId)
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
