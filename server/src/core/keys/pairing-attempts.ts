import { type Clock, MINUTE } from '../values/clock.ts'
import type { ApiKey } from './api-key.ts'
import type { KeyStore } from './key-store.ts'

/** The number of wrong codes after which an address is blocked. */
export const MAX_WRONG_CODES = 10
/** How long an address is blocked, and how long its wrong codes count after its latest attempt. */
const BLOCK_MS = 10 * MINUTE
/** Limits the memory: beyond this number, the address that has made no attempt for the longest time is forgotten. */
const MAX_ADDRESSES = 50_000

interface Attempts {
  readonly wrongCodes: number
  readonly expiresAt: number
}

/** Blocks an address that has sent too many wrong pairing codes. Each instance has its own counts, only in memory. */
export class PairingAttempts {
  readonly #store: Pick<KeyStore, 'findKeyByPairingCode'>
  readonly #clock: Clock
  readonly #attempts = new Map<string, Attempts>()

  constructor(store: Pick<KeyStore, 'findKeyByPairingCode'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  blockedUntil(address: string): number | undefined {
    const { wrongCodes, expiresAt } = this.#attemptsOf(address)
    return wrongCodes >= MAX_WRONG_CODES ? expiresAt : undefined
  }

  /** Finds the key whose pairing code has this hash. The hash of a malformed code is undefined. */
  async findKey(address: string, hash: string | undefined): Promise<ApiKey | undefined> {
    // Every code counts as wrong until the lookup finds it, so that parallel requests cannot exceed the limit.
    this.#addWrongCodes(address, 1)
    if (hash === undefined) return undefined
    const key = await this.#store.findKeyByPairingCode(hash, this.#clock()).catch((error: unknown) => {
      this.#addWrongCodes(address, -1)
      throw error
    })
    if (key !== undefined) this.#addWrongCodes(address, -1)
    return key
  }

  #attemptsOf(address: string): Attempts {
    const now = this.#clock()
    const attempts = this.#attempts.get(address)
    return attempts !== undefined && now < attempts.expiresAt
      ? attempts
      : { wrongCodes: 0, expiresAt: now + BLOCK_MS }
  }

  #addWrongCodes(address: string, change: 1 | -1): void {
    const wrongCodes = this.#attemptsOf(address).wrongCodes + change
    // Deleted first, so that the map stays in the order of the latest attempts.
    this.#attempts.delete(address)
    if (wrongCodes > 0) this.#attempts.set(address, { wrongCodes, expiresAt: this.#clock() + BLOCK_MS })
    const [oldest] = this.#attempts.keys()
    if (this.#attempts.size > MAX_ADDRESSES && oldest !== undefined) this.#attempts.delete(oldest)
  }
}
