import { readHistory } from './pet-history.ts'

export const UPDATED_PETS = [1, 2, 3, 4, 5, 6, 7, 8]
const ADJUSTED_PETS = [11, 12, 13, 14]
const ORDERED_PETS = [21, 22, 23, 24]
/** Its only update is the last change of all. */
export const LAST_PET = 30
export const CLUSTER_PETS = [...UPDATED_PETS, ...ADJUSTED_PETS, ...ORDERED_PETS, LAST_PET]

const STOCK_FOR_ORDERS = 1_000_000
const CALLERS = { updates: 4, adjustments: 2, orders: 2 }
/** Between two requests of a caller: many more changes would take hours to read and show nothing more. */
const MAX_PAUSE_MS = 60
const ADJUSTMENT_REASON = 'received'
const RETRY_MS = 50
const PATIENCE_MS = 120_000
const NO_ANSWER = 0
const UNAVAILABLE = 503

interface ClusterLoadParts {
  readonly addresses: readonly string[]
  readonly key: string
  readonly random: () => number
}

export interface SentOrder {
  readonly petId: number
  readonly quantity: number
  readonly state: 'open' | 'complete' | 'cancelled'
}

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the body is read by callers that know the operation
  readonly body: any
}

/** Callers that update, adjust and order through several instances, and record every acknowledged change. */
export class ClusterLoad {
  /** Updates have no Idempotency-Key: without a response, an update may or may not have been made. Each quantity is unique. */
  readonly #updates = new Map<number, { readonly petId: number; isAcknowledged: boolean }>()
  acknowledgedUpdates = 0
  /** Adjustments and orders have a key and are repeated until they are answered, so each was made once. */
  readonly orders = new Map<number, SentOrder>()
  readonly surprises: string[] = []
  repeats = 0
  reusedOrderIds = 0
  readonly #adjustments = new Map<string, { readonly petId: number; readonly delta: number }>()
  readonly #parts: ClusterLoadParts

  constructor(parts: ClusterLoadParts) {
    this.#parts = parts
  }

  get adjustments(): number {
    return this.#adjustments.size
  }

  async run(isOver: () => boolean): Promise<void> {
    for (const petId of ORDERED_PETS) await this.#adjust(petId, STOCK_FOR_ORDERS)
    const caller = async (step: () => Promise<unknown>) => {
      while (!isOver()) {
        await step()
        await Bun.sleep(this.#parts.random() * MAX_PAUSE_MS)
      }
    }
    const callers = (count: number, step: () => Promise<unknown>) =>
      Array.from({ length: count }, () => caller(step))
    await Promise.all([
      ...callers(CALLERS.updates, () => this.update(this.#pick(this.#parts.addresses))),
      ...callers(CALLERS.adjustments, () => this.#adjust(this.#pick(ADJUSTED_PETS), this.#pick([1, 2, 3]))),
      ...callers(CALLERS.orders, () => this.#order()),
    ])
    await this.send('PATCH', `/inventory/${LAST_PET}`, { quantity: 1 })
  }

  /** Sends one update to one instance. Returns whether it was acknowledged. */
  async update(address: string): Promise<boolean> {
    const petId = this.#pick(UPDATED_PETS)
    const quantity = this.#updates.size + 1
    const update = { petId, isAcknowledged: false }
    this.#updates.set(quantity, update)
    const { status } = await this.#sendOnce(address, 'PATCH', `/inventory/${petId}`, { quantity })
    if (status === 200) {
      update.isAcknowledged = true
      this.acknowledgedUpdates++
    }
    if (![200, UNAVAILABLE, NO_ANSWER].includes(status)) this.surprises.push(`an update got status ${status}`)
    return status === 200
  }

  /** Sends a request to one instance after the other until the response is not 503. */
  async send(method: string, path: string, body?: object): Promise<Answer> {
    const idempotencyKey = method === 'GET' ? undefined : crypto.randomUUID()
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const address = this.#pick(this.#parts.addresses)
      const answer = await this.#sendOnce(address, method, path, body, idempotencyKey)
      if (answer.status !== UNAVAILABLE && answer.status !== NO_ANSWER) return answer
      if (performance.now() > deadline) throw new Error(`${method} ${path} got no answer within 120 s`)
      this.repeats++
      await Bun.sleep(RETRY_MS)
    }
  }

  /** Compares the instances with the acknowledged changes. Nobody may change anything meanwhile. */
  async violations(): Promise<string[]> {
    const found = [...this.surprises]
    for (const address of this.#parts.addresses) {
      for (const petId of UPDATED_PETS) found.push(...(await this.#wrongUpdates(address, petId)))
    }
    found.push(...(await this.#wrongAdjustments()), ...(await this.#wrongOrders()))
    for (const petId of [...ADJUSTED_PETS, ...ORDERED_PETS]) found.push(...(await this.#wrongStock(petId)))
    return found
  }

  /** Every acknowledged update is a link of the history, no update is there twice, and the last one is the quantity. */
  async #wrongUpdates(address: string, petId: number): Promise<string[]> {
    const history = await readHistory({ address, key: this.#parts.key }, petId)
    const { body } = await this.#sendOnce(address, 'GET', `/inventory/${petId}`)
    const made = new Set(history.map(({ after }) => after))
    const sent = [...this.#updates].filter(([, update]) => update.petId === petId)
    const lost = sent.filter(([quantity, { isAcknowledged }]) => isAcknowledged && !made.has(quantity))
    const chain = [0, ...history.map(({ after }) => after)]
    const isWhole =
      made.size === history.length &&
      history.every(
        ({ before, after }, index) => before === chain[index] && this.#updates.get(after)?.petId === petId,
      )
    return [
      ...lost.map(([quantity]) => `pet ${petId} has lost ${quantity}`),
      ...(isWhole ? [] : [`pet ${petId} has the history ${chain.join(' → ')}`]),
      ...(body.quantity === chain.at(-1) ? [] : [`pet ${petId} has ${body.quantity}, not ${chain.at(-1)}`]),
    ]
  }

  async #adjust(petId: number, delta: number): Promise<void> {
    const reference = `adjustment ${this.#adjustments.size + 1}`
    this.#adjustments.set(reference, { petId, delta })
    const body = { reason: ADJUSTMENT_REASON, reference, changes: [{ petId, delta }] }
    const { status } = await this.send('POST', '/inventory/adjustments', body)
    if (status !== 200) this.surprises.push(`${reference} got status ${status}`)
  }

  async #order(): Promise<void> {
    const wanted = { petId: this.#pick(ORDERED_PETS), quantity: this.#pick([1, 2, 3]) }
    const { status, body } = await this.send('POST', '/store/orders', wanted)
    if (status !== 201) {
      this.surprises.push(`an order got status ${status}`)
      return
    }
    const id = Number(body.id)
    if (this.orders.has(id)) this.reusedOrderIds++
    this.orders.set(id, { ...wanted, state: 'open' })
    const choice = this.#parts.random()
    if (choice < 0.2) return
    if (choice < 0.7) {
      const answer = await this.send('PATCH', `/store/orders/${id}`, { complete: true })
      if (answer.status === 200) this.orders.set(id, { ...wanted, state: 'complete' })
      else this.surprises.push(`the completion of order ${id} got status ${answer.status}`)
      return
    }
    const answer = await this.send('DELETE', `/store/orders/${id}`)
    if (answer.status === 204) this.orders.set(id, { ...wanted, state: 'cancelled' })
    else this.surprises.push(`the cancellation of order ${id} got status ${answer.status}`)
  }

  async #wrongAdjustments(): Promise<string[]> {
    const { addresses, key } = this.#parts
    const made = new Map<string, number>()
    for (const petId of [...ADJUSTED_PETS, ...ORDERED_PETS]) {
      for (const row of await readHistory({ address: addresses[0] ?? '', key }, petId)) {
        // The rows of orders have a reference, too.
        if (row.reason !== ADJUSTMENT_REASON || row.reference === undefined) continue
        made.set(row.reference, (made.get(row.reference) ?? 0) + 1)
        const sent = this.#adjustments.get(row.reference)
        if (sent?.petId !== petId || sent.delta !== row.after - row.before) {
          return [`${row.reference} changed pet ${petId} by ${row.after - row.before}`]
        }
      }
    }
    return [...this.#adjustments.keys()].flatMap((reference) => {
      const times = made.get(reference) ?? 0
      return times === 1 ? [] : [`${reference} was acknowledged and made ${times} times`]
    })
  }

  /** Every order exists as it was acknowledged, and no other order exists. */
  async #wrongOrders(): Promise<string[]> {
    const found: string[] = []
    let shown = 0
    for (const state of ['open', 'complete', 'cancelled']) {
      for (const { id, ...order } of await this.#listOrders(state)) {
        shown++
        const { petId, quantity } = order
        const acknowledged = this.orders.get(id)
        if (!Bun.deepEquals(acknowledged, { petId, quantity, state })) {
          found.push(`order ${id} is ${state}; ${JSON.stringify(acknowledged)} was acknowledged`)
        }
      }
    }
    if (shown !== this.orders.size)
      found.push(`${this.orders.size} orders were acknowledged and ${shown} exist`)
    return found
  }

  async #listOrders(state: string): Promise<(SentOrder & { readonly id: number })[]> {
    const { addresses, key } = this.#parts
    const orders: (SentOrder & { readonly id: number })[] = []
    for (let path: string | undefined = `/store/orders?state=${state}&limit=100`; path !== undefined; ) {
      const answer: Response = await fetch(`${addresses[0]}/v1${path}`, {
        headers: { Authorization: `Bearer ${key}` },
      })
      orders.push(...((await answer.json()) as typeof orders))
      path = /<[^>]*?\/v1(\/[^>]+)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
    }
    return orders
  }

  async #wrongStock(petId: number): Promise<string[]> {
    const adjusted = [...this.#adjustments.values()]
      .filter((one) => one.petId === petId)
      .reduce((sum, { delta }) => sum + delta, 0)
    const sold = [...this.orders.values()]
      .filter((order) => order.petId === petId && order.state === 'complete')
      .reduce((sum, { quantity }) => sum + quantity, 0)
    const found: string[] = []
    for (const address of this.#parts.addresses) {
      const { body } = await this.#sendOnce(address, 'GET', `/inventory/${petId}`)
      if (body.quantity !== adjusted - sold) {
        found.push(`pet ${petId} has ${body.quantity}, and ${adjusted} - ${sold} was acknowledged`)
      }
    }
    return found
  }

  async #sendOnce(
    address: string,
    method: string,
    path: string,
    body?: object,
    idempotencyKey?: string,
  ): Promise<Answer> {
    try {
      const response = await fetch(`${address}/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${this.#parts.key}`,
          'Content-Type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
    } catch {
      return { status: NO_ANSWER, body: {} }
    }
  }

  #pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#parts.random() * list.length)]
    if (one === undefined) throw new Error('the list to choose from is empty')
    return one
  }
}
