import { type FailedPart, isPetstoreError } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { keptCount, keptFields, keptId, keptRows } from '../kept-work.ts'
import { Observable, type Readable } from '../observable.ts'
import { type SaveContext, sendOwn } from '../stock/own-request.ts'
import type { QuantityChange } from '../stock/undo-history.ts'
import { showToast } from '../toasts.ts'

export interface SaleLine {
  readonly petId: bigint
  readonly quantity: number
}

/** A pet that keeps a sale from being booked. */
export interface RefusedPet {
  readonly petId: bigint
  readonly why: string
  /** The units that can be sold, if the service says so. */
  readonly free: number | undefined
}

export interface Refusal {
  /** Empty if the pets say why. */
  readonly message: string
  readonly pets: readonly RefusedPet[]
}

/** A sale that was made and is not booked yet. */
export interface Sale {
  readonly id: string
  /** Sent again with the same key, the sale is still booked once. The service remembers a key for a day. */
  readonly idempotencyKey: string
  readonly receipt: string
  readonly soldAt: number
  readonly lines: readonly SaleLine[]
  /** If set, the sale is not sent again until a person decides. */
  readonly refusal: Refusal | undefined
}

export type SaleOutcome =
  | { readonly type: 'booked'; readonly changes: readonly QuantityChange[] }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The service cannot be reached. The queue sends the sale later. */
  | { readonly type: 'waiting' }

type SaleStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

const RETRY_MS = 5_000
const TIMEOUT_MS = 15_000
/** An hour less than the service remembers an Idempotency-Key. */
const KEY_EXPIRES_MS = 23 * 60 * 60 * 1_000

/**
 * The sales that are not booked yet, oldest first. Each is kept in the browser before it is sent, with its
 * Idempotency-Key. So a network break, a reload or a second tab neither loses a sale nor books it twice.
 */
export class SaleQueue implements Readable<readonly Sale[]> {
  readonly #saving: SaveContext
  readonly #storage: SaleStorage
  readonly #prefix: string
  readonly #sales: Observable<readonly Sale[]>
  #sending: Promise<boolean> | undefined
  /** The outcomes that a caller of `book` waits for, by the id of the sale. */
  readonly #outcomes = new Map<string, SaleOutcome>()
  /** Sales that the browser has no room for. They are lost if the page is closed. */
  readonly #unkept = new Map<string, Sale>()

  readonly get: () => readonly Sale[]
  readonly subscribe: Readable<readonly Sale[]>['subscribe']

  constructor(saving: SaveContext, ownerId: string, storage: SaleStorage = localStorage) {
    this.#saving = saving
    this.#storage = storage
    this.#prefix = `petstore.sales.1.${ownerId}.`
    this.#sales = new Observable(this.#read())
    this.get = this.#sales.get
    this.subscribe = this.#sales.subscribe
  }

  /** Sends waiting sales whenever the service may be reachable again, until the session ends. */
  start(): void {
    const { signal } = this.#saving
    const send = () => void this.#sendWaiting()
    const timer = setInterval(send, RETRY_MS)
    signal.addEventListener('abort', () => clearInterval(timer))
    addEventListener('online', send, { signal })
    const onStorage = ({ key }: StorageEvent) => {
      if (key === null || key.startsWith(this.#prefix)) this.#sales.set(this.#read())
    }
    addEventListener('storage', onStorage, { signal })
    send()
  }

  /** Books a sale. A refused sale is not kept: the person at the till decides at once. */
  async book(lines: readonly SaleLine[], receipt: string): Promise<SaleOutcome> {
    const sale = newSale(lines, receipt)
    this.#outcomes.set(sale.id, { type: 'waiting' })
    this.#keep(sale)
    await this.#sendWaiting()
    const outcome = this.#outcomes.get(sale.id) ?? { type: 'waiting' }
    this.#outcomes.delete(sale.id)
    if (outcome.type === 'refused') this.#remove(sale)
    return outcome
  }

  /** Sends a refused sale once more, as a new request. */
  async retry(sale: Sale): Promise<void> {
    this.#keep({ ...sale, idempotencyKey: newKey(), soldAt: Date.now(), refusal: undefined })
    await this.#sendWaiting()
  }

  /** Gives a refused sale up. */
  discard(sale: Sale): void {
    this.#remove(sale)
  }

  /** One tab sends at a time, and every sale after the one before it. */
  async #sendWaiting(): Promise<void> {
    this.#sending ??= withLock(this.#prefix, () => this.#sendAll()).finally(() => {
      this.#sending = undefined
    })
    const isReachable = await this.#sending
    // A sale that was added meanwhile does not wait for the next interval.
    const hasMore = this.#read().some(({ refusal }) => refusal === undefined)
    if (isReachable && hasMore && !this.#saving.signal.aborted) await this.#sendWaiting()
  }

  /** False if the service could not be reached. */
  async #sendAll(): Promise<boolean> {
    for (const sale of this.#read().filter(({ refusal }) => refusal === undefined)) {
      if (this.#saving.signal.aborted) return false
      const outcome = await this.#send(sale)
      if (outcome.type === 'waiting') return false
      if (outcome.type === 'refused') this.#keep({ ...sale, refusal: outcome.refusal })
      else this.#remove(sale)
      if (this.#outcomes.has(sale.id)) this.#outcomes.set(sale.id, outcome)
      else if (outcome.type === 'booked') showToast({ name: 'sale', text: `Sale ${sale.receipt} is booked.` })
    }
    return true
  }

  async #send(sale: Sale): Promise<SaleOutcome> {
    if (Date.now() - sale.soldAt > KEY_EXPIRES_MS) {
      const message = `It may have been booked before. Look for ${sale.receipt} in Activity, then try again or discard it.`
      return { type: 'refused', refusal: { message, pets: [] } }
    }
    const { client, stock, signal } = this.#saving
    const changes = sale.lines.map(({ petId, quantity }) => ({ petId, delta: -quantity }))
    const targets = changes.map(({ petId, delta }) => ({
      petId,
      quantity: (stock.find(petId)?.quantity ?? 0) + delta,
    }))
    try {
      const items = await sendOwn(this.#saving, {
        targets,
        isRepeat: Date.now() - sale.soldAt > RETRY_MS,
        send: () =>
          client.inventory.adjust(
            { reason: 'sold', reference: sale.receipt, keepReserved: true, changes },
            { idempotencyKey: sale.idempotencyKey, signal, retries: 0, timeout: TIMEOUT_MS },
          ),
      })
      stock.publishNow()
      const booked = items.map(({ petId, quantity: after }, index) => ({
        petId,
        before: after - (changes[index]?.delta ?? 0),
        after,
      }))
      return { type: 'booked', changes: booked }
    } catch (error) {
      return isFinal(error) ? { type: 'refused', refusal: refusalOf(error) } : { type: 'waiting' }
    }
  }

  #keep(sale: Sale): void {
    try {
      this.#storage.setItem(this.#prefix + sale.id, saleText(sale))
    } catch {
      showToast({
        name: 'sales',
        tone: 'negative',
        text: 'This browser has no room to keep sales. Free some space before you sell without a connection.',
      })
      this.#unkept.set(sale.id, sale)
    }
    this.#sales.set(this.#read())
  }

  #remove({ id }: Sale): void {
    this.#storage.removeItem(this.#prefix + id)
    this.#unkept.delete(id)
    this.#sales.set(this.#read())
  }

  #read(): readonly Sale[] {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index) ?? '')
    const kept = keys
      .filter((key) => key.startsWith(this.#prefix))
      .flatMap((key) => readSale(key.slice(this.#prefix.length), this.#storage.getItem(key)) ?? [])
    return [...kept, ...this.#unkept.values()].toSorted((one, other) => one.soldAt - other.soldAt)
  }
}

function newSale(lines: readonly SaleLine[], receipt: string): Sale {
  return { id: newKey(), idempotencyKey: newKey(), receipt, soldAt: Date.now(), lines, refusal: undefined }
}

function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** Runs the work in one tab at a time, if the browser has locks. Without them the Idempotency-Key still protects. */
async function withLock<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  if (navigator.locks === undefined) return work()
  return navigator.locks.request(name, work)
}

/** Whether the service has decided. Everything else, such as a lost response or an overload, is tried again. */
function isFinal(error: unknown): boolean {
  return (
    isPetstoreError(error) &&
    !error.mayHaveBeenMade &&
    error.status !== undefined &&
    [400, 403, 404, 409, 412, 413, 422].includes(error.status)
  )
}

function refusalOf(error: unknown): Refusal {
  const parts: readonly FailedPart[] = isPetstoreError(error) ? error.details : []
  const pets = parts.flatMap(({ petId, code, message, available }) =>
    petId === undefined
      ? []
      : [{ petId: BigInt(petId), why: whyRefused(code, message, available), free: available }],
  )
  return { message: pets.length === 0 ? failureWords(error) : '', pets }
}

function whyRefused(code: string, message: string, available: number | undefined): string {
  if (code === 'not_found') return 'It is not in the store any more.'
  if (code !== 'insufficient_stock' || available === undefined) return message
  return available <= 0 ? 'None is free.' : `Only ${available.toLocaleString('en')} free.`
}

function saleText({ idempotencyKey, receipt, soldAt, lines, refusal }: Sale): string {
  return JSON.stringify({
    idempotencyKey,
    receipt,
    soldAt,
    lines: lines.map(({ petId, quantity }) => [String(petId), quantity]),
    refusal: refusal && {
      message: refusal.message,
      pets: refusal.pets.map(({ petId, why, free }) => [String(petId), why, free ?? null]),
    },
  })
}

function readSale(id: string, text: string | null): Sale | undefined {
  let value: unknown
  try {
    value = JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
  const { idempotencyKey, receipt, soldAt, lines, refusal } = keptFields(value)
  if (typeof idempotencyKey !== 'string' || typeof receipt !== 'string') return undefined
  const { message, pets } = keptFields(refusal)
  return {
    id,
    idempotencyKey,
    receipt,
    soldAt: keptCount(soldAt) ?? 0,
    lines: keptRows(lines).flatMap(([petText, amount]) => {
      const [petId, quantity] = [keptId(petText), keptCount(amount)]
      return petId === undefined || quantity === undefined ? [] : [{ petId, quantity }]
    }),
    refusal:
      typeof message !== 'string'
        ? undefined
        : {
            message,
            pets: keptRows(pets).flatMap(([petText, why, free]) => {
              const petId = keptId(petText)
              return petId === undefined ? [] : [{ petId, why: String(why), free: keptCount(free) }]
            }),
          },
  }
}
