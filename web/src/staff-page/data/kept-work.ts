/** What this takes of `localStorage`. */
export type WorkStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/**
 * Work that is not sent yet, kept in this browser over a reload and a lost network, for the owner of one key: the id
 * of a key belongs to the database that made it, and says nothing of the key itself.
 */
export class KeptWork {
  readonly #storage: WorkStorage
  readonly #prefix: string

  constructor(ownerId: string, name: string, storage: WorkStorage = localStorage) {
    this.#storage = storage
    this.#prefix = `petstore.${name}.1.${ownerId}.`
  }

  /** `undefined` where there is none, or it is not what was written. */
  read(part: string): unknown {
    try {
      return JSON.parse(this.#storage.getItem(this.#prefix + part) ?? 'null') ?? undefined
    } catch {
      return undefined
    }
  }

  /** Keeps a value, or forgets it where it is `undefined`. False where the browser has no room for it. */
  write(part: string, value: unknown): boolean {
    try {
      if (value === undefined) this.#storage.removeItem(this.#prefix + part)
      else this.#storage.setItem(this.#prefix + part, JSON.stringify(value))
      return true
    } catch {
      return false
    }
  }

  /** Whether it is in what another tab has written; `null` is all there is. */
  isIn(storageKey: string | null): boolean {
    return storageKey === null || storageKey.startsWith(this.#prefix)
  }
}

/** The fields of a kept value; none where it is not an object. */
export function keptFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The rows of a kept value; none where it is not an array. */
export function keptRows(value: unknown): readonly (readonly unknown[])[] {
  return Array.isArray(value) ? value.filter((row) => Array.isArray(row)) : []
}

/** An id as it is kept, since JSON knows no bigint. */
export function keptId(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined
}

export function keptCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
