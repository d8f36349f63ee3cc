import { Observable } from '../data/observable.ts'

export const PEOPLE_ITEM = 'petstore.people'
/** After this many wrong PINs in a row, a person is removed from the device. */
export const MAX_WRONG_PINS = 10
export const PIN_FORM = /^\d{4,8}$/

/** The minimum that OWASP recommends for PBKDF2 with SHA-256. */
const ITERATIONS = 600_000
const SALT_BYTES = 16
const IV_BYTES = 12

/** A person who works on this device with a PIN. The id is the id of the person's API key. */
export interface Person {
  readonly id: string
  readonly name: string
}

interface StoredPerson extends Person {
  readonly iterations: number
  /** These three are base64. */
  readonly salt: string
  readonly iv: string
  readonly encryptedKey: string
  /** PINs that were entered since the last right one. */
  readonly attempts: number
}

type Unlocking =
  | { readonly type: 'unlocked'; readonly apiKey: string }
  | { readonly type: 'wrong'; readonly attemptsLeft: number }
  | { readonly type: 'removed' }

/** Runs the work while no other tab runs work. */
type RunExclusively = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * The people with a PIN on this device. Each API key is stored encrypted with AES-GCM under a key that is derived from the
 * PIN, so the storage alone contains no API key.
 */
export class Vault {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly #exclusively: RunExclusively
  readonly people = new Observable<readonly Person[]>([])

  constructor(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, exclusively: RunExclusively) {
    this.#storage = storage
    this.#exclusively = exclusively
    this.refresh()
  }

  /** Reads the people again. Call it when another tab has changed them. */
  refresh(): void {
    this.people.set(this.#read())
  }

  /** Adds a person, or changes the PIN of a person who is already there. */
  async add(person: Person, apiKey: string, pin: string): Promise<void> {
    const encrypted = await encrypt(person, apiKey, pin)
    await this.#exclusively(async () =>
      this.#write([...this.#read().filter(({ id }) => id !== person.id), encrypted]),
    )
  }

  unlock(personId: string, pin: string): Promise<Unlocking> {
    return this.#exclusively(async () => {
      const person = this.#read().find(({ id }) => id === personId)
      if (person === undefined || person.attempts >= MAX_WRONG_PINS) return this.#dropPerson(personId)
      // Counted before the attempt, so that reloading the page during it gives no further attempt.
      const attempts = person.attempts + 1
      this.#change(personId, { attempts })
      const apiKey = await decrypt(person, pin)
      if (apiKey !== undefined) {
        this.#change(personId, { attempts: 0 })
        return { type: 'unlocked', apiKey }
      }
      if (attempts >= MAX_WRONG_PINS) return this.#dropPerson(personId)
      return { type: 'wrong', attemptsLeft: MAX_WRONG_PINS - attempts }
    })
  }

  rename({ id, name }: Person): Promise<void> {
    return this.#exclusively(async () => this.#change(id, { name }))
  }

  async remove(personId: string): Promise<void> {
    await this.#exclusively(async () => this.#dropPerson(personId))
  }

  #dropPerson(personId: string): Unlocking {
    this.#write(this.#read().filter(({ id }) => id !== personId))
    return { type: 'removed' }
  }

  #change(personId: string, change: Partial<Pick<StoredPerson, 'name' | 'attempts'>>): void {
    this.#write(this.#read().map((person) => (person.id === personId ? { ...person, ...change } : person)))
  }

  #read(): readonly StoredPerson[] {
    try {
      const stored: unknown = JSON.parse(this.#storage.getItem(PEOPLE_ITEM) ?? '[]')
      return Array.isArray(stored) ? stored : []
    } catch {
      return []
    }
  }

  #write(people: readonly StoredPerson[]): void {
    if (people.length === 0) this.#storage.removeItem(PEOPLE_ITEM)
    else this.#storage.setItem(PEOPLE_ITEM, JSON.stringify(people))
    this.refresh()
  }
}

async function encrypt(person: Person, apiKey: string, pin: string): Promise<StoredPerson> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const key = await deriveKey(pin, salt, ITERATIONS)
  const text = new TextEncoder().encode(apiKey)
  const encryptedKey = new Uint8Array(await crypto.subtle.encrypt(cipher(person.id, iv), key, text))
  return {
    ...person,
    iterations: ITERATIONS,
    salt: toBase64(salt),
    iv: toBase64(iv),
    encryptedKey: toBase64(encryptedKey),
    attempts: 0,
  }
}

/** Returns undefined if the PIN is wrong: AES-GCM detects that by its authentication tag. */
async function decrypt(person: StoredPerson, pin: string): Promise<string | undefined> {
  const key = await deriveKey(pin, fromBase64(person.salt), person.iterations)
  const algorithm = cipher(person.id, fromBase64(person.iv))
  try {
    const text = await crypto.subtle.decrypt(algorithm, key, fromBase64(person.encryptedKey))
    return new TextDecoder().decode(text)
  } catch {
    return undefined
  }
}

/** The id is authenticated too, so that nobody can put the key of one person under the name of another. */
function cipher(id: string, iv: Uint8Array<ArrayBuffer>): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(id) }
}

async function deriveKey(pin: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', new TextEncoder().encode(pin), 'PBKDF2', false, [
    'deriveKey',
  ])
  return crypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
