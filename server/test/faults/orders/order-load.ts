/** A requested order, with its response if the sender has one. */
export interface MadeOrder {
  readonly petId: number
  readonly quantity: number
}

export interface Delivery {
  readonly petId: number
  readonly units: number
  readonly fate: 'acknowledged' | 'unsure'
}

/** The last acknowledged request to close an order: the states that it may have from then on. */
export type Closing = 'complete' | 'released'

interface OrderLoadParts {
  readonly key: string
  readonly petIds: readonly number[]
  readonly random: () => number
  readonly callers: number
}

/** The share of each kind. Holds last a second, so that some expire during the load. */
const KINDS = { order: 40, hold: 14, complete: 18, cancel: 8, deliver: 10, look: 10 }
type Kind = keyof typeof KINDS
const TOTAL_WEIGHT = Object.values(KINDS).reduce((sum, weight) => sum + weight, 0)
const STATUSES: Readonly<Record<Kind, readonly number[]>> = {
  order: [201, 409],
  hold: [201, 409],
  complete: [200, 409],
  cancel: [204, 409],
  deliver: [200],
  look: [200],
}

const NO_ANSWER = 0
const MAX_UNITS = 3
const KEYED_CHANCE = 0.5
const PATIENCE_MS = 60_000

interface Answer {
  readonly status: number
  readonly body: { readonly id?: number; readonly code?: string }
}

/** A request with an Idempotency-Key and without a response: it can be repeated. */
interface Repeatable extends MadeOrder {
  readonly key: string
  readonly body: string
}

/** Callers that order the same few pets, complete and cancel each other's orders, and record the responses. */
export class OrderLoad {
  readonly made = new Map<bigint, MadeOrder>()
  readonly closings = new Map<bigint, Set<Closing>>()
  /** By their reference. */
  readonly deliveries = new Map<string, Delivery>()
  readonly counts = {
    orders: 0,
    refused: 0,
    completed: 0,
    cancelled: 0,
    tooLate: 0,
    delivered: 0,
    repeated: 0,
  }
  /** Orders that may have been made, and cannot be queried. */
  unsure = 0
  /** Unexpected responses. */
  readonly surprises: string[] = []
  readonly #parts: OrderLoadParts
  #open: bigint[] = []
  #repeatable: Repeatable[] = []
  #answers = 0
  #number = 0

  constructor(parts: OrderLoadParts) {
    this.#parts = parts
  }

  /** Sends until `isOver`, each caller to one of the addresses; a caller without a response ends. */
  async run(addresses: readonly string[], isOver: () => boolean): Promise<void> {
    const caller = async (address: string) => {
      while (!isOver() && (await this.#step(address)) !== NO_ANSWER) this.#answers++
    }
    const { callers } = this.#parts
    await Promise.all(
      Array.from({ length: callers }, (_, index) => caller(addresses[index % addresses.length] ?? '')),
    )
  }

  async untilAnswered(more: number): Promise<void> {
    const enough = this.#answers + more
    const deadline = performance.now() + PATIENCE_MS
    while (this.#answers < enough) {
      if (performance.now() > deadline) throw new Error(`no ${more} answers within ${PATIENCE_MS / 1_000} s`)
      await Bun.sleep(1)
    }
  }

  /** Repeats requests with a key and without a response: each is made once. */
  async settle(address: string): Promise<void> {
    for (const one of this.#repeatable.splice(0)) {
      this.counts.repeated++
      const answer = await this.#send(address, 'POST', '/store/orders', one.body, one.key)
      if (answer.status === 201) this.#noteMade(answer, one)
      else if (answer.status !== 409) this.surprises.push(`an order sent again was answered ${answer.status}`)
    }
  }

  /** Adds an order that was made without a response: from now on it can be completed and cancelled like any other. */
  adopt(orderId: bigint, order: MadeOrder): void {
    this.made.set(orderId, order)
    this.#open.push(orderId)
    this.unsure--
  }

  async #step(address: string): Promise<number> {
    const picked = this.#pickKind()
    const orderId = this.#open[Math.floor(this.#parts.random() * this.#open.length)]
    const kind = orderId === undefined && (picked === 'complete' || picked === 'cancel') ? 'deliver' : picked
    const { status } = await this.#sendOne(address, kind, orderId ?? 0n)
    if (status !== NO_ANSWER && !STATUSES[kind].includes(status)) {
      this.surprises.push(`a request of the kind ${kind} was answered ${status}`)
    }
    return status
  }

  #sendOne(address: string, kind: Kind, orderId: bigint): Promise<Answer> {
    switch (kind) {
      case 'order':
      case 'hold':
        return this.#order(address, kind === 'hold')
      case 'deliver':
        return this.#deliver(address)
      case 'look':
        return this.#send(address, 'GET', '/store/orders?limit=20')
      case 'complete':
        return this.#complete(address, orderId)
      case 'cancel':
        return this.#cancel(address, orderId)
    }
  }

  async #order(address: string, isHold: boolean): Promise<Answer> {
    const wanted = { petId: this.#pickPet(), quantity: this.#pickUnits() }
    const body = JSON.stringify({ ...wanted, ...(isHold ? { holdSeconds: 1 } : {}) })
    const key = this.#parts.random() < KEYED_CHANCE ? `order-${++this.#number}` : undefined
    const answer = await this.#send(address, 'POST', '/store/orders', body, key)
    if (answer.status === 201) this.#noteMade(answer, wanted)
    else if (answer.status === 409) this.counts.refused++
    else if (key === undefined) this.unsure++
    else this.#repeatable.push({ ...wanted, key, body })
    return answer
  }

  async #complete(address: string, orderId: bigint): Promise<Answer> {
    const answer = await this.#send(address, 'PATCH', `/store/orders/${orderId}`, '{"complete": true}')
    if (answer.status === 200) this.counts.completed++
    else if (answer.status === 409) this.counts.tooLate++
    this.#noteClosed(orderId, answer, { 200: 'complete', 409: 'released' })
    return answer
  }

  async #cancel(address: string, orderId: bigint): Promise<Answer> {
    const answer = await this.#send(address, 'DELETE', `/store/orders/${orderId}`)
    if (answer.status === 204) this.counts.cancelled++
    else if (answer.status === 409) this.counts.tooLate++
    this.#noteClosed(orderId, answer, { 204: 'released', 409: 'complete' })
    return answer
  }

  async #deliver(address: string): Promise<Answer> {
    const [petId, units, reference] = [this.#pickPet(), 2 + this.#pickUnits(), `delivery ${++this.#number}`]
    const body = JSON.stringify({ reason: 'received', reference, changes: [{ petId, delta: units }] })
    const answer = await this.#send(address, 'POST', '/inventory/adjustments', body)
    const fate = answer.status === 200 ? 'acknowledged' : 'unsure'
    this.deliveries.set(reference, { petId, units, fate })
    if (fate === 'acknowledged') this.counts.delivered++
    return answer
  }

  #noteMade({ body }: Answer, { petId, quantity }: MadeOrder): void {
    const orderId = BigInt(body.id ?? 0)
    if (this.made.has(orderId)) this.surprises.push(`order ${orderId} was given to two callers`)
    this.made.set(orderId, { petId, quantity })
    this.#open.push(orderId)
    this.counts.orders++
  }

  #noteClosed(orderId: bigint, { status }: Answer, meaning: Readonly<Record<number, Closing>>): void {
    const closing = meaning[status]
    if (closing === undefined) return
    this.#open = this.#open.filter((id) => id !== orderId)
    this.closings.set(orderId, (this.closings.get(orderId) ?? new Set()).add(closing))
  }

  async #send(address: string, method: string, path: string, body?: string, key?: string): Promise<Answer> {
    try {
      const response = await fetch(`${address}/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${this.#parts.key}`,
          'Content-Type': 'application/json',
          ...(key === undefined ? {} : { 'Idempotency-Key': key }),
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
    } catch {
      return { status: NO_ANSWER, body: {} }
    }
  }

  #pickPet(): number {
    const { petIds, random } = this.#parts
    return petIds[Math.floor(random() * petIds.length)] ?? 0
  }

  #pickUnits(): number {
    return 1 + Math.floor(this.#parts.random() * MAX_UNITS)
  }

  #pickKind(): Kind {
    let left = this.#parts.random() * TOTAL_WEIGHT
    for (const [kind, weight] of Object.entries(KINDS)) {
      left -= weight
      if (left < 0) return kind as Kind
    }
    return 'order'
  }
}
