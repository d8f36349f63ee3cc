import type { OrderState } from '../../../src/core/orders/order.ts'
import { Random } from '../../sim/random.ts'
import { BASKET_PETS, type BasketShop } from './basket-shop.ts'

export interface BasketLine {
  readonly petId: number
  readonly quantity: number
}

/** An order as the service answers with it. */
export interface BasketOrder {
  readonly id: number
  readonly lines: readonly (BasketLine & { readonly returned: number })[]
  readonly state: OrderState
  readonly adjustmentId?: number
}

/** What the callers know of an order from their answers. */
export interface KnownOrder {
  readonly id: number
  /** The lines that it was created with, or that have replaced them, as texts. */
  readonly versions: Set<string>
  /** Its latest state in an answer. */
  order: BasketOrder
  isSold: boolean
  isCancelled: boolean
  /** Requests that sold it and would have failed if it had been sold before. */
  sales: number
  /** The units that were taken back, by pet. */
  readonly returned: Map<number, number>
}

interface Answer {
  readonly status: number
  readonly isReplay: boolean
  readonly text: string
}

type Step = keyof typeof WEIGHTS

/** How many requests succeeded, how many were refused, and how many were sent again. */
export type BasketCounts = Readonly<Record<Step | 'refused' | 'repeated', number>>

const WEIGHTS = { create: 40, complete: 18, replace: 14, extend: 6, cancel: 8, giveBack: 10, receive: 8 }
const MAX_LINES = 8
const MAX_UNITS = 3
/** Callers choose among the latest orders, so that they meet. */
const LATEST_ORDERS = 150
const SHORT_HOLD_SECONDS = 1
/** Longer than a run. */
const LONG_HOLD_SECONDS = 86_400
const RETRY_MS = 100
const ATTEMPT_MS = 20_000
const PATIENCE_MS = 120_000
/** Units of this pet are also sold while orders reserve them. */
export const OVERRIDDEN_PET = 12

/** Callers that create, change, sell, cancel and return baskets of the same pets, each request until an instance answers it. */
export class BasketCallers {
  readonly orders = new Map<number, KnownOrder>()
  readonly violations: string[] = []
  readonly counts: Record<Step | 'refused' | 'repeated', number> = {
    create: 0,
    complete: 0,
    replace: 0,
    extend: 0,
    cancel: 0,
    giveBack: 0,
    receive: 0,
    refused: 0,
    repeated: 0,
  }
  readonly #shop: BasketShop
  readonly #random: Random
  readonly #latest: KnownOrder[] = []

  /** How many requests were answered. */
  get answers(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0) - this.counts.repeated
  }

  constructor(shop: BasketShop, seed: number) {
    this.#shop = shop
    this.#random = new Random(seed)
  }

  /** Returns once all requests have been answered. */
  async run(callers: number, isOver: (counts: BasketCounts) => boolean): Promise<void> {
    const call = async () => {
      while (!isOver(this.counts)) await this.#step()
    }
    await Promise.all(Array.from({ length: callers }, call))
  }

  async receive(lines: readonly BasketLine[]): Promise<void> {
    const changes = lines.map(({ petId, quantity }) => ({ petId, delta: quantity }))
    const answer = await this.#send('POST', '/inventory/adjustments', { reason: 'received', changes })
    this.#expectStatus(answer, 200, [])
  }

  async #step(): Promise<void> {
    const step = this.#random.pickWeighted(WEIGHTS)
    if (step === 'create') return this.#create()
    if (step === 'receive') {
      await this.receive(this.#pickLines())
      this.counts.receive++
      return
    }
    const known = this.#latest.length === 0 ? undefined : this.#random.pick(this.#latest)
    if (known === undefined) return
    if (await this.#change(step, known)) this.counts[step]++
  }

  /** Returns whether the change was made. */
  #change(step: Exclude<Step, 'create' | 'receive'>, known: KnownOrder): Promise<boolean> {
    switch (step) {
      case 'complete':
        return this.#complete(known)
      case 'replace':
        return this.#replace(known)
      case 'extend':
        return this.#extend(known)
      case 'cancel':
        return this.#cancel(known)
      case 'giveBack':
        return this.#giveBack(known)
    }
  }

  async #create(): Promise<void> {
    const isOverride = this.#random.chance(0.02)
    const lines = isOverride ? [{ petId: OVERRIDDEN_PET, quantity: this.#pickUnits() }] : this.#pickLines()
    const complete = isOverride || this.#random.chance(0.25)
    const holdSeconds = complete ? undefined : this.#pickHold()
    const body = { lines, complete, holdSeconds, ...(isOverride ? { evenIfReserved: true } : {}) }
    const answer = await this.#send('POST', '/store/orders', body)
    if (!this.#expectStatus(answer, 201, ['insufficient_stock'], lines)) return
    const order: BasketOrder = JSON.parse(answer.text)
    if (!answer.isReplay && linesText(order.lines) !== linesText(lines)) {
      this.violations.push(`a basket of ${linesText(lines)} was answered with ${answer.text}`)
    }
    if (this.orders.has(order.id)) this.violations.push(`order ${order.id} was created twice`)
    const known: KnownOrder = {
      id: order.id,
      versions: new Set([linesText(lines)]),
      order,
      isSold: complete,
      isCancelled: false,
      sales: complete ? 1 : 0,
      returned: new Map(),
    }
    this.orders.set(order.id, known)
    this.#latest.push(known)
    if (this.#latest.length > LATEST_ORDERS) this.#latest.shift()
    this.counts.create++
  }

  async #complete(known: KnownOrder): Promise<boolean> {
    const onlyIfOpen = this.#random.chance(0.5)
    const evenIfExpired = this.#random.chance(0.5)
    const occurredAt = this.#random.chance(0.2) ? new Date(Date.now() - 1_000).toISOString() : undefined
    const body = { complete: true, onlyIfOpen, evenIfExpired, occurredAt }
    const answer = await this.#send('PATCH', `/store/orders/${known.id}`, body)
    if (!this.#expectStatus(answer, 200, ['insufficient_stock', 'order_closed'])) return false
    known.order = JSON.parse(answer.text)
    known.isSold = true
    if (onlyIfOpen) known.sales++
    return true
  }

  async #replace(known: KnownOrder): Promise<boolean> {
    const lines = this.#pickLines()
    const answer = await this.#send('PATCH', `/store/orders/${known.id}`, { lines })
    if (!this.#expectStatus(answer, 200, ['insufficient_stock', 'order_closed'], lines)) return false
    known.versions.add(linesText(lines))
    return true
  }

  async #extend(known: KnownOrder): Promise<boolean> {
    const body = { holdSeconds: this.#pickHold() ?? null }
    const answer = await this.#send('PATCH', `/store/orders/${known.id}`, body)
    return this.#expectStatus(answer, 200, ['order_closed'])
  }

  async #cancel(known: KnownOrder): Promise<boolean> {
    const answer = await this.#send('DELETE', `/store/orders/${known.id}`)
    if (!this.#expectStatus(answer, 204, ['order_closed'])) return false
    known.isCancelled = true
    return true
  }

  async #giveBack({ order, returned }: KnownOrder): Promise<boolean> {
    if (order.adjustmentId === undefined) return false
    const { petId, quantity } = this.#random.pick(order.lines)
    const units = this.#random.integer(1, quantity)
    const body = { reason: 'returned', lines: [{ petId, quantity: units }] }
    const answer = await this.#send('POST', `/inventory/adjustments/${order.adjustmentId}/reverse`, body)
    if (!this.#expectStatus(answer, 200, ['already_reversed'])) return false
    returned.set(petId, (returned.get(petId) ?? 0) + units)
    return true
  }

  /** Whether the request succeeded. Otherwise its error must have one of the codes, and name its lines. */
  #expectStatus(
    { status, text }: Answer,
    success: number,
    codes: readonly string[],
    lines?: readonly BasketLine[],
  ): boolean {
    if (status === success) return true
    this.counts.refused++
    const { code, details = [] }: ErrorText = text === '' ? {} : JSON.parse(text)
    const isRefusal = status === 409 && codes.includes(code ?? '')
    const isAboutLines = details.every(
      ({ code: each, index, petId }) =>
        each !== 'insufficient_stock' || (lines?.[index]?.petId ?? petId) === petId,
    )
    if (!isRefusal || !isAboutLines) this.violations.push(`unexpected answer ${status} ${text}`)
    return false
  }

  /** Repeats the request with its key until an instance answers it. A 503 may have been made. */
  async #send(method: string, path: string, body?: object): Promise<Answer> {
    const idempotencyKey = crypto.randomUUID()
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const answer = await this.#attempt(method, path, idempotencyKey, body)
      if (answer !== undefined && answer.status !== 503) return answer
      if (performance.now() > deadline) throw new Error(`${method} ${path} got no answer`)
      this.counts.repeated++
      await Bun.sleep(RETRY_MS)
    }
  }

  async #attempt(
    method: string,
    path: string,
    idempotencyKey: string,
    body: object | undefined,
  ): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${this.#random.pick(this.#shop.addresses)}/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${this.#shop.key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': idempotencyKey,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ATTEMPT_MS),
      })
      const isReplay = response.headers.has('Idempotency-Replayed')
      return { status: response.status, isReplay, text: await response.text() }
    } catch {
      return undefined
    }
  }

  /** In random order. */
  #pickLines(): BasketLine[] {
    const petIds = [...BASKET_PETS]
    return Array.from({ length: this.#random.integer(1, MAX_LINES) }, () => {
      const [petId = 0] = petIds.splice(this.#random.integer(0, petIds.length - 1), 1)
      return { petId, quantity: this.#pickUnits() }
    })
  }

  #pickUnits(): number {
    return this.#random.integer(1, MAX_UNITS)
  }

  /** `undefined` for an order that does not expire. */
  #pickHold(): number | undefined {
    const choice = this.#random.next()
    if (choice < 0.4) return undefined
    return choice < 0.8 ? SHORT_HOLD_SECONDS : LONG_HOLD_SECONDS
  }
}

interface ErrorText {
  readonly code?: string
  readonly details?: readonly { readonly code: string; readonly index: number; readonly petId?: number }[]
}

/** The same text for the same lines in any order. */
export function linesText(lines: readonly BasketLine[]): string {
  return lines
    .toSorted((one, other) => one.petId - other.petId)
    .map(({ petId, quantity }) => `${quantity} of pet ${petId}`)
    .join(', ')
}
