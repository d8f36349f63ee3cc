import { isPetstoreError } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { type KeptWork, keptCount, keptFields, keptId, keptRows } from '../kept-work.ts'
import { lateWords } from '../late-words.ts'
import { State } from '../observable.ts'
import { type Batch, type QuantityChange, randomId, refusedOf, sendBatch } from '../stock/adjustment-batch.ts'
import type { SaveContext } from '../stock/own-request.ts'
import { showProblem, showToast } from '../toasts.ts'

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
  /** It can only be booked as of now. */
  readonly isTooLate: boolean
  readonly pets: readonly RefusedPet[]
}

/** A sale that was made and is not booked yet. */
export interface Sale {
  readonly id: string
  /** Sent again with the same key, the sale is still booked once. */
  readonly idempotencyKey: string
  readonly receipt: string
  readonly soldAt: number
  readonly lines: readonly SaleLine[]
  /** If set, the sale is not sent again until a person decides. */
  readonly refusal: Refusal | undefined
}

export type RefusedSale = Sale & { readonly refusal: Refusal }

export type SaleOutcome =
  | { readonly type: 'booked'; readonly changes: readonly QuantityChange[] }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The service cannot be reached. The queue sends the sale later. */
  | { readonly type: 'waiting' }

const NO_ROOM =
  'This browser has no room to keep sales. Free some space before you sell without a connection.'
const RETRY_MS = 5_000
const TIMEOUT_MS = 15_000

/**
 * The sales that are not booked yet, oldest first. Each is kept in the browser before it is sent, with its
 * Idempotency-Key. So a network break, a reload or a second tab neither loses a sale nor books it twice.
 */
export class SaleQueue extends State<readonly Sale[]> {
  readonly #saving: SaveContext
  readonly #kept: KeptWork
  #sending: Promise<boolean> | undefined
  /** The callers of `book` that wait for an outcome, by the id of the sale. */
  readonly #callers = new Map<string, (outcome: SaleOutcome) => void>()
  /** Sales that the browser has no room for. They are lost if the page is closed. */
  readonly #unkept = new Map<string, Sale>()

  constructor(saving: SaveContext, kept: KeptWork) {
    super([])
    this.#saving = saving
    this.#kept = kept
    this.#reload()
  }

  /** Sends waiting sales whenever the service may be reachable again, until the session ends. */
  start(): void {
    const { signal } = this.#saving
    const send = () => void this.#sendWaiting()
    const timer = setInterval(send, RETRY_MS)
    signal.addEventListener('abort', () => clearInterval(timer))
    addEventListener('online', send, { signal })
    this.#kept.onChangeElsewhere(() => this.#reload(), signal)
    send()
  }

  /** Books a sale. A refused sale is not kept: the person at the till decides at once. */
  async book(sale: Sale): Promise<SaleOutcome> {
    const outcome = await new Promise<SaleOutcome>((resolve) => {
      this.#callers.set(sale.id, resolve)
      this.keep(sale)
      void this.#sendWaiting().then(() => resolve({ type: 'waiting' }))
    })
    this.#callers.delete(sale.id)
    if (outcome.type === 'refused') this.discard(sale)
    else this.#reload()
    return outcome
  }

  /** Whether a caller of `book` waits for the outcome. */
  isBooking({ id }: Sale): boolean {
    return this.#callers.has(id)
  }

  /** Sends a refused sale once more, as a new request. */
  async retry(sale: Sale): Promise<void> {
    const soldAt = sale.refusal?.isTooLate ? this.#saving.timeOfAction() : sale.soldAt
    this.keep({ ...sale, idempotencyKey: randomId(), soldAt, refusal: undefined })
    await this.#sendWaiting()
  }

  /** Discards a refused sale. */
  discard({ id }: Sale): void {
    this.#kept.write(id, undefined)
    this.#unkept.delete(id)
    this.#reload()
  }

  /** One tab sends at a time, and every sale after the one before it. */
  async #sendWaiting(): Promise<void> {
    this.#sending ??= withLock(this.#kept.prefix, () => this.#sendAll()).finally(() => {
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
      if (outcome.type === 'refused') this.keep({ ...sale, refusal: outcome.refusal })
      else this.discard(sale)
      const caller = this.#callers.get(sale.id)
      if (caller !== undefined) caller(outcome)
      else if (outcome.type === 'booked') this.#showBooked(sale, outcome.changes)
    }
    return true
  }

  #showBooked({ receipt }: Sale, changes: readonly QuantityChange[]): void {
    const { stock } = this.#saving
    const late = lateWords(changes, (petId) => stock.nameOf(petId))
    showToast({ name: 'sale', text: [`Sale ${receipt} is booked.`, late].filter(Boolean).join(' ') })
  }

  async #send({ lines, receipt, soldAt, idempotencyKey }: Sale): Promise<SaleOutcome> {
    const { signal, stock } = this.#saving
    const batch = {
      changes: lines.map(({ petId, quantity }) => ({ petId, delta: -quantity })),
      purpose: { reason: 'sold', reference: receipt, keepReserved: true },
      idempotencyKey,
      madeAt: soldAt,
      occurredAt: soldAt,
      isRepeat: Date.now() - soldAt > RETRY_MS,
    } as const
    try {
      const changes = await sendBatch(this.#saving, batch, { signal, retries: 0, timeout: TIMEOUT_MS })
      stock.publishNow()
      return { type: 'booked', changes }
    } catch (error) {
      return isFinal(error) ? { type: 'refused', refusal: refusalOf(error, batch) } : { type: 'waiting' }
    }
  }

  keep(sale: Sale): void {
    if (!this.#kept.write(sale.id, keptSale(sale))) {
      showProblem('sales', NO_ROOM)
      this.#unkept.set(sale.id, sale)
    }
    this.#reload()
  }

  #reload(): void {
    this.setValue(this.#read())
  }

  #read(): readonly Sale[] {
    const kept = this.#kept.parts().flatMap((id) => readSale(id, this.#kept.read(id)) ?? [])
    return [...kept, ...this.#unkept.values()].toSorted((one, other) => one.soldAt - other.soldAt)
  }
}

export function newSale(lines: readonly SaleLine[], receipt: string, soldAt: number): Sale {
  return {
    id: randomId(),
    idempotencyKey: randomId(),
    receipt,
    soldAt,
    lines,
    refusal: undefined,
  }
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

function refusalOf(error: unknown, batch: Batch): Refusal {
  const pets = Array.from(refusedOf(error, batch), ([{ petId }, { code, message, available }]) => ({
    petId,
    why: whyRefused(code, message, available),
    free: available,
  }))
  return {
    message: pets.length === 0 ? failureWords(error) : '',
    isTooLate: isPetstoreError(error, 'too_late'),
    pets,
  }
}

function whyRefused(code: string, message: string, available: number | undefined): string {
  if (code === 'not_found') return 'It is not in the store any more.'
  if (code !== 'insufficient_stock' || available === undefined) return message
  return available <= 0 ? 'None is free.' : `Only ${available.toLocaleString('en')} free.`
}

function keptSale({ id: _, ...sale }: Sale): object {
  return {
    ...sale,
    lines: sale.lines.map(({ petId, quantity }) => [String(petId), quantity]),
    refusal: sale.refusal && {
      message: sale.refusal.message,
      isTooLate: sale.refusal.isTooLate,
      pets: sale.refusal.pets.map(({ petId, why, free }) => [String(petId), why, free ?? null]),
    },
  }
}

function readSale(id: string, value: unknown): Sale | undefined {
  const { idempotencyKey, receipt, soldAt, lines, refusal } = keptFields(value)
  if (typeof idempotencyKey !== 'string' || typeof receipt !== 'string') return undefined
  const { message, isTooLate, pets } = keptFields(refusal)
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
            isTooLate: isTooLate === true,
            pets: keptRows(pets).flatMap(([petText, why, free]) => {
              const petId = keptId(petText)
              return petId === undefined ? [] : [{ petId, why: String(why), free: keptCount(free) }]
            }),
          },
  }
}
