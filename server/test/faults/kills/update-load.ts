import type { Operation } from '../../postgres/register-check.ts'
import type { UpdateLedger } from './update-ledger.ts'

export interface LoadParts {
  readonly ledger: UpdateLedger
  readonly petIds: readonly bigint[]
  /** A key without a limit, and one whose limit is reached soon. */
  readonly key: string
  readonly scantKey: string
  readonly random: () => number
  readonly writers: number
}

/** A kind of request, its share, and the allowed responses. */
interface Kind {
  readonly weight: number
  readonly statuses: readonly number[]
}

/** The kinds that are always rejected show that a rejection never changes anything. */
const KINDS = {
  update: { weight: 60, statuses: [200] },
  conditional: { weight: 10, statuses: [200, 412] },
  read: { weight: 10, statuses: [200] },
  stale: { weight: 4, statuses: [412] },
  malformed: { weight: 4, statuses: [400] },
  unknownPet: { weight: 4, statuses: [404] },
  wrongKey: { weight: 4, statuses: [401] },
  scant: { weight: 4, statuses: [200, 429] },
} as const satisfies Record<string, Kind>
type KindName = keyof typeof KINDS

/** The limits of the scant key: low enough that it is rejected, and then banned, in every run. */
export const SCANT = { perMinute: 3, perDay: 1_000_000 }

const TOTAL_WEIGHT = Object.values(KINDS).reduce((sum, { weight }) => sum + weight, 0)
const UNKNOWN_PET = 404n
const NO_ANSWER = 0
const UNAVAILABLE = 503
/** Longer than anything here may take; after it a response counts as missing. */
const PATIENCE_MS = 60_000

interface Answer {
  readonly status: number
  readonly tag: string
  readonly quantity: number
}

/** Callers that concurrently update and read the same few pets, and record the responses. */
export class UpdateLoad {
  /** For the register check: the written and read values, with their times. */
  readonly operations: Operation[] = []
  readonly statuses = new Map<number, number>()
  /** Unexpected responses. */
  readonly surprises: string[] = []
  /** During a fault, responses that need the database may be 503. */
  isExcused = false
  requests = 0
  longestMs = 0
  readonly #parts: LoadParts

  constructor(parts: LoadParts) {
    this.#parts = parts
  }

  /** Sends until `isOver`, each request to one of the addresses; a caller without a response ends. */
  async run(addresses: readonly string[], isOver: () => boolean): Promise<void> {
    const writer = async (address: string) => {
      while (!isOver() && (await this.#step(address, this.#pickKind())) !== NO_ANSWER);
    }
    await Promise.all(
      Array.from({ length: this.#parts.writers }, (_, index) =>
        writer(addresses[index % addresses.length] ?? ''),
      ),
    )
  }

  async #step(address: string, kind: KindName): Promise<number> {
    const { petIds, random } = this.#parts
    const petId = petIds[Math.floor(random() * petIds.length)] ?? 0n
    const answer =
      kind === 'read'
        ? await this.#read(address, petId)
        : kind === 'conditional'
          ? await this.#changeWhatWasRead(address, petId)
          : await this.#update(address, kind === 'unknownPet' ? UNKNOWN_PET : petId, kind)
    const { status } = answer
    this.requests++
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const expected: readonly number[] = KINDS[kind].statuses
    const isFine = expected.includes(status) || (this.isExcused && status === UNAVAILABLE)
    if (status !== NO_ANSWER && !isFine) {
      this.surprises.push(`a request of the kind ${kind} was answered ${status}`)
    }
    return status
  }

  async #read(address: string, petId: bigint): Promise<Answer> {
    const began = performance.now()
    const answer = await this.#send(address, petId, this.#parts.key)
    if (answer.status === 200) {
      const { quantity } = answer
      const ended = performance.now()
      this.operations.push({ kind: 'read', petId: Number(petId), value: quantity, began, ended })
    }
    return answer
  }

  async #changeWhatWasRead(address: string, petId: bigint): Promise<Answer> {
    const { status, tag, quantity } = await this.#read(address, petId)
    if (status !== 200) return { status: NO_ANSWER, tag, quantity }
    return this.#update(address, petId, 'conditional', { tag, quantity })
  }

  async #update(
    address: string,
    petId: bigint,
    kind: KindName,
    seen?: { readonly tag: string; readonly quantity: number },
  ): Promise<Answer> {
    const { ledger, key, scantKey } = this.#parts
    const quantity = ledger.nextQuantity()
    const tag = kind === 'stale' ? '"another-time"' : seen?.tag
    const began = performance.now()
    const answer = await this.#send(
      address,
      petId,
      kind === 'wrongKey' ? `${key}x` : kind === 'scant' ? scantKey : key,
      {
        method: 'PATCH',
        body: kind === 'malformed' ? `{"quantity": "${quantity}"}` : `{"quantity": ${quantity}}`,
        headers: tag === undefined ? {} : { 'If-Match': tag },
      },
    )
    const ended = performance.now()
    const { status } = answer
    const fate = status === 200 ? 'acknowledged' : status === NO_ANSWER ? 'unsure' : 'refused'
    ledger.note({
      petId,
      quantity,
      began,
      ended,
      fate,
      ...(seen === undefined ? {} : { onlyAfter: seen.quantity }),
    })
    if (fate === 'acknowledged' && answer.quantity !== quantity) {
      this.surprises.push(`an update to ${quantity} was answered with ${answer.quantity}`)
    }
    if (fate !== 'refused' && petId !== UNKNOWN_PET) {
      const isUnsure = fate === 'unsure'
      this.operations.push({ kind: 'write', petId: Number(petId), value: quantity, began, ended, isUnsure })
    }
    return answer
  }

  async #send(address: string, petId: bigint, key: string, init: RequestInit = {}): Promise<Answer> {
    const began = performance.now()
    try {
      const response = await fetch(`${address}/v1/inventory/${petId}`, {
        ...init,
        headers: { ...init.headers, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const { quantity = Number.NaN } = (await response.json()) as { quantity?: number }
      return { status: response.status, tag: response.headers.get('ETag') ?? '', quantity }
    } catch {
      return { status: NO_ANSWER, tag: '', quantity: Number.NaN }
    } finally {
      this.longestMs = Math.max(this.longestMs, performance.now() - began)
    }
  }

  #pickKind(): KindName {
    let left = this.#parts.random() * TOTAL_WEIGHT
    for (const [name, { weight }] of Object.entries(KINDS)) {
      left -= weight
      if (left < 0) return name as KindName
    }
    return 'update'
  }
}
