export type WorkStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/**
 * Unsent work that this browser keeps across reloads and lost connections, for the owner of one key. The id of a key
 * reveals nothing about the key itself.
 */
export class KeptWork {
  /** Starts the name of every part in the storage. */
  readonly prefix: string
  readonly #storage: WorkStorage

  constructor(ownerId: string, name: string, storage: WorkStorage = localStorage, version = 2) {
    this.prefix = `petstore.${name}.${version}.${ownerId}.`
    this.#storage = storage
  }

  parts(): readonly string[] {
    const names = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index) ?? '')
    return names.filter((name) => name.startsWith(this.prefix)).map((name) => name.slice(this.prefix.length))
  }

  /** Returns `undefined` if there is no such part, or it is not valid JSON. */
  read(part: string): unknown {
    try {
      return JSON.parse(this.#storage.getItem(this.prefix + part) ?? 'null') ?? undefined
    } catch {
      return undefined
    }
  }

  /** Keeps a value, or removes it if it is `undefined`. Returns false if the browser has no room for it. */
  write(part: string, value: unknown): boolean {
    try {
      if (value === undefined) this.#storage.removeItem(this.prefix + part)
      else this.#storage.setItem(this.prefix + part, JSON.stringify(value))
      return true
    } catch {
      return false
    }
  }

  /** Calls back when another tab has changed this work, until the signal ends. */
  onChangeElsewhere(listener: () => void, signal: AbortSignal): void {
    const onStorage = ({ key }: StorageEvent) => {
      // The key is `null` if all of the storage was cleared.
      if (key === null || key.startsWith(this.prefix)) listener()
    }
    addEventListener('storage', onStorage, { signal })
  }
}

/** The fields of a kept object; none if the value is not an object. */
export function keptFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The rows of a kept array; none if the value is not an array. */
export function keptRows(value: unknown): readonly (readonly unknown[])[] {
  return Array.isArray(value) ? value.filter((row) => Array.isArray(row)) : []
}

/** The id that a text is; `undefined` for anything else. JSON has no bigint, so ids are kept as text. */
export function keptId(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined
}

export function keptCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function keptText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
