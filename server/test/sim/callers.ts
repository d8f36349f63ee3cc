import type { QuantityChange } from './event-log.ts'
import type { Network, Outcome, SentRequest } from './network.ts'
import {
  type Operation,
  type OrderLine,
  requestOf,
  verdictOf,
  type Wish,
  type WishOf,
  type WishType,
} from './operations.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Pets whose quantities are set, each quantity once. */
export const COUNTED_PETS = [1, 2, 3]
/** Pets of which there are few, so that orders compete for them. */
export const SCARCE_PETS = [4, 5, 6]
const SHARED_PETS = [...COUNTED_PETS, ...SCARCE_PETS]
/** Pets that callers create and remove have ids from here on. */
const FIRST_NEW_PET = 1_000
/** Quantities that are set are this far apart, so that no adjustment leads from one to another. */
const QUANTITY_STEP = 1_000
const MOVED_CATEGORY = 2

const CALLERS = 8
const KEYED_CHANCE = 0.6
const REPEAT_CHANCE = 0.1
const REUSE_CHANCE = 0.05
const RETRY_MS = 15
const LONGEST_PAUSE_MS = 3

const WEIGHTS: Readonly<Record<WishType, number>> = {
  set: 20,
  adjust: 18,
  order: 12,
  change_order: 2,
  complete: 8,
  cancel: 4,
  create_pet: 3,
  rename_pet: 3,
  remove_pet: 2,
  change_category: 1,
  list: 8,
  entry: 8,
  availability: 5,
  read_order: 3,
  latest_change: 4,
  search: 3,
  invalid: 3,
}

interface CallerParts {
  readonly time: VirtualTime
  readonly random: Random
  readonly network: Network
  /** The secret of a key without practical limits. */
  readonly secret: string
  /** Numbers everything that is sent and received. */
  readonly nextMoment: () => number
  readonly note: (text: string) => void
}

/** Callers that change and read the same few pets at once, and record what they have sent and received. */
export class Callers {
  readonly operations: Operation[] = []
  isStopping = false
  readonly #parts: CallerParts
  #active = 0
  #numbers = 0
  /** What callers have learned from answers. */
  readonly #seenQuantities = new Map<number, number>()
  readonly #openOrders = new Set<number>()
  readonly #newPets = new Set<number>()
  readonly #names: { readonly petId: number; readonly name: string }[] = []

  constructor(parts: CallerParts) {
    this.#parts = parts
  }

  get isIdle(): boolean {
    return this.#active === 0
  }

  start(): void {
    this.isStopping = false
    for (let caller = 0; caller < CALLERS; caller++) void this.#call()
  }

  /** Reads everything once. */
  async readAll(): Promise<void> {
    const orders = [...this.#openOrders].map((orderId): Wish => ({ type: 'read_order', orderId }))
    const pets = SHARED_PETS.flatMap((petId): Wish[] => [
      { type: 'entry', petId },
      { type: 'availability', petId },
      { type: 'latest_change', petId },
    ])
    for (const wish of [{ type: 'list' } as const, ...pets, ...orders]) await this.#perform(wish)
  }

  /** The whole history of each pet that callers share, oldest first. */
  async readHistories(): Promise<ReadonlyMap<number, readonly QuantityChange[]>> {
    const { network, secret } = this.#parts
    const histories = new Map<number, readonly QuantityChange[]>()
    for (const petId of SHARED_PETS) {
      const history: QuantityChange[] = []
      let path: string | undefined = `/inventory/${petId}/history?limit=100`
      while (path !== undefined) {
        const outcome = await network.send({
          method: 'GET',
          path,
          headers: { Authorization: `Bearer ${secret}` },
        })
        if (outcome.type !== 'answered' || outcome.status !== 200) continue
        history.push(...JSON.parse(outcome.body))
        path = /<[^>]*\/v1(\/[^>]+)>; rel="next"/.exec(outcome.head)?.[1]
      }
      histories.set(petId, history.reverse())
    }
    return histories
  }

  async #call(): Promise<void> {
    const { time, random } = this.#parts
    this.#active++
    while (!this.isStopping) {
      await this.#perform(this.#compose())
      if (random.chance(0.3)) await time.sleep(random.between(0, LONGEST_PAUSE_MS))
    }
    this.#active--
  }

  /** Sends an operation until it is known whether it was made. Without a key, that may remain unknown. */
  async #perform(wish: Wish): Promise<void> {
    const { time, random } = this.#parts
    const number = this.operations.length
    const isWrite = requestOf(wish).method !== 'GET' && wish.type !== 'invalid'
    const idempotencyKey = isWrite && random.chance(KEYED_CHANCE) ? `key-${number}` : undefined
    const operation: Operation = { number, wish, idempotencyKey, attempts: [] }
    this.operations.push(operation)
    for (;;) {
      const outcome = await this.#send(operation)
      const verdict = verdictOf(outcome)
      if (verdict === 'made' || verdict === 'refused') {
        if (outcome.type === 'answered') this.#learn(wish, outcome)
        break
      }
      if (this.isStopping && idempotencyKey === undefined) return
      if (verdict === 'unknown' && isWrite && idempotencyKey === undefined) return
      await time.sleep(RETRY_MS)
    }
    if (idempotencyKey === undefined) return
    if (random.chance(REPEAT_CHANCE)) await this.#send(operation)
    if (random.chance(REUSE_CHANCE)) await this.#perform(this.#reuse(idempotencyKey))
  }

  async #send({ number, wish, idempotencyKey, attempts }: Operation): Promise<Outcome> {
    const { network, secret, time, nextMoment, note } = this.#parts
    const { headers, ...request } = requestOf(wish)
    const attempt: Operation['attempts'][number] = {
      sentAt: nextMoment(),
      wallSentAt: time.wallClock(),
      endedAt: undefined,
      wallEndedAt: 0,
      outcome: undefined,
    }
    attempts.push(attempt)
    note(`operation ${number} ${request.method} ${request.path} ${request.body ?? ''}`)
    const outcome = await network.send({
      ...request,
      headers: {
        Authorization: `Bearer ${secret}`,
        'Content-Type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...headers,
      },
    })
    attempt.endedAt = nextMoment()
    attempt.wallEndedAt = time.wallClock()
    attempt.outcome = outcome
    note(
      `operation ${number} ${outcome.type === 'answered' ? `${outcome.status} ${outcome.head}${outcome.body}` : outcome.type}`,
    )
    return outcome
  }

  #learn(wish: Wish, { status, body }: Extract<Outcome, { type: 'answered' }>): void {
    if (wish.type === 'create_pet' || wish.type === 'rename_pet') {
      this.#names.push({ petId: wish.petId, name: wish.name })
    }
    if (wish.type === 'complete' || wish.type === 'cancel') this.#openOrders.delete(wish.orderId)
    if (status >= 300 || body === '') return
    const answer = JSON.parse(body)
    if (wish.type === 'order') this.#openOrders.add(answer.id)
    if (wish.type === 'create_pet') this.#newPets.add(wish.petId)
    if (wish.type === 'set' || wish.type === 'entry') this.#seenQuantities.set(wish.petId, answer.quantity)
  }

  #compose(): Wish {
    const { random } = this.#parts
    const type = random.pickWeighted(WEIGHTS)
    const orders = [...this.#openOrders]
    const newPets = [...this.#newPets]
    switch (type) {
      case 'set':
        return this.#set()
      case 'adjust':
        return this.#adjust()
      case 'order':
        return this.#order()
      case 'create_pet': {
        const number = ++this.#numbers
        const lowStockAt = random.chance(0.5) ? { lowStockAt: random.integer(0, 5) } : {}
        const petId = FIRST_NEW_PET + number
        return { type, petId, name: `Born${digits(number)}`, quantity: random.integer(0, 5), ...lowStockAt }
      }
      case 'rename_pet': {
        const petId = random.pick([...SHARED_PETS, ...newPets])
        const lowStockAt = random.chance(0.3) ? null : random.integer(0, 5)
        return { type, petId, name: `Named${digits(++this.#numbers)}`, lowStockAt }
      }
      case 'change_category': {
        const lowStockAt = random.chance(0.3) ? null : random.integer(0, 5)
        return { type, categoryId: MOVED_CATEGORY, name: `Category${++this.#numbers}`, lowStockAt }
      }
      case 'change_order': {
        if (orders.length === 0) return this.#order()
        const lines = random.chance(0.5) ? { lines: this.#orderLines() } : {}
        return { type, orderId: random.pick(orders), tag: `Order${++this.#numbers}`, ...lines }
      }
      case 'complete':
      case 'cancel':
      case 'read_order':
        return orders.length === 0 ? this.#order() : { type, orderId: random.pick(orders) }
      case 'remove_pet':
        return this.#removal()
      case 'search':
        return this.#names.length === 0 ? { type: 'list' } : { type, ...random.pick(this.#names) }
      case 'list':
        return { type }
      case 'entry':
      case 'availability':
        return { type, petId: random.pick(SHARED_PETS) }
      case 'latest_change':
        return { type, petId: random.chance(0.5) ? undefined : random.pick(SHARED_PETS) }
      case 'invalid':
        return this.#invalid()
    }
  }

  #set(): Wish {
    const { random } = this.#parts
    const petId = random.pick(COUNTED_PETS)
    const quantity = ++this.#numbers * QUANTITY_STEP
    const seen = this.#seenQuantities.get(petId)
    const isConditional = seen !== undefined && random.chance(0.3)
    return { type: 'set', petId, quantity, ...(isConditional ? { ifMatch: `"${seen}-available"` } : {}) }
  }

  #adjust(): Wish {
    const { random } = this.#parts
    const petIds = new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(SHARED_PETS)))
    const changes = [...petIds].map((petId): WishOf<'adjust'>['changes'][number] => {
      if (SCARCE_PETS.includes(petId)) return { petId, delta: random.pick([-2, -1, 1, 2, 3]) }
      const expected = this.#seenQuantities.get(petId)
      if (expected === undefined || random.chance(0.6)) return { petId, delta: random.integer(1, 3) }
      return { petId, quantity: ++this.#numbers * QUANTITY_STEP, expected }
    })
    return {
      type: 'adjust',
      reference: `Reference${++this.#numbers}`,
      keepReserved: random.chance(0.3),
      changes,
    }
  }

  #order(): Wish {
    const { random } = this.#parts
    const hold = random.chance(0.3) ? { holdSeconds: random.integer(1, 3) } : {}
    return { type: 'order', lines: this.#orderLines(), tag: `Order${++this.#numbers}`, ...hold }
  }

  #orderLines(): OrderLine[] {
    const { random } = this.#parts
    const pets = [...SCARCE_PETS, ...this.#newPets]
    const petIds = new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(pets)))
    return [...petIds].map((petId) => ({ petId, quantity: random.integer(1, 3) }))
  }

  /** Nobody else removes the same pet, so that its removal comes from one operation. */
  #removal(): Wish {
    if (this.#newPets.size === 0) return { type: 'list' }
    const petId = this.#parts.random.pick([...this.#newPets])
    this.#newPets.delete(petId)
    return { type: 'remove_pet', petId }
  }

  #invalid(): Wish {
    const { random } = this.#parts
    return random.pick([
      this.#refused(400, { body: '{"quantity": -1}' }),
      this.#refused(404, { path: '/inventory/999' }),
      this.#refused(401, { headers: { Authorization: 'Bearer pst_live_wrong' } }),
      this.#refused(412, { headers: { 'If-Match': '"0-sold"' } }),
    ])
  }

  /** Another request with the key of a request that was answered. */
  #reuse(idempotencyKey: string): Wish {
    return this.#refused(422, { headers: { 'Idempotency-Key': idempotencyKey } })
  }

  #refused(status: number, changes: Partial<SentRequest>): Wish {
    const body = JSON.stringify({ quantity: ++this.#numbers * QUANTITY_STEP })
    const request = { method: 'PATCH', path: '/inventory/1', body, headers: {}, ...changes }
    return { type: 'invalid', status, request }
  }
}

/** A fixed number of digits, because a search also finds names that begin with its words. */
function digits(number: number): string {
  return String(number).padStart(6, '0')
}
