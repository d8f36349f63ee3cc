import { openStore } from '../../src/store/open-store.ts'
import { Random } from '../sim/random.ts'
import { historyOf } from '../support/whole-store.ts'
import { contradictions, type Operation, type PetQuantity } from './load-check.ts'

interface LoadOptions {
  readonly key: string
  readonly petIds: readonly number[]
  /** Of the instances. Each request goes to any of them. */
  readonly addresses: readonly string[]
}

interface Answer {
  /** 0 if no response arrived. */
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

interface Change {
  readonly petId: number
  readonly delta?: number
  readonly quantity?: number
  readonly expected?: number
}

/** A request that is sent repeatedly, always with the same key. */
interface KeyedRequest {
  readonly idempotencyKey: string
  readonly method: string
  readonly path: string
  readonly body: string
  readonly changes: readonly Change[]
  readonly began: number
  copies: number
  /** At most one of these is not a replay. */
  readonly answers: Answer[]
}

/**
 * No pet has the same quantity twice, so a quantity identifies its write: quantities that are set are below `DOWN`. Deltas add
 * `UP` or subtract `DOWN`, and there are too few subtractions to cancel out one `UP`.
 */
const UP = 10_000_000_000
const DOWN = 10_000_000
const UNKNOWN_PET = 987_654
/** Longer than anything here may take. */
const PATIENCE_MS = 60_000
/** The client gives up a response after this time. Some responses arrive earlier, and some changes are made without one. */
const IMPATIENCE_MS = 5
const RETRY_MS = 10
/** How many of the latest answered requests are repeated at the end. */
const MAX_KEPT = 40

/** Callers that read and change the same pets at several instances, and record what they were told. */
export class Load {
  readonly operations: Operation[] = []
  /** Responses that contradict earlier ones, or the request. */
  readonly surprises: string[] = []
  /** Requests with an Idempotency-Key. */
  readonly counts = { made: 0, refused: 0, repeated: 0, reused: 0 }
  readonly #options: LoadOptions
  readonly #random = new Random(1)
  #quantities = 0
  readonly #unanswered = new Set<KeyedRequest>()
  #answered: KeyedRequest[] = []

  constructor(options: LoadOptions) {
    this.#options = options
  }

  /** Sends updates, lists and reads of one pet, and returns the statuses of the responses. */
  async sendPlain(callers: number, isOver: (requests: number) => boolean): Promise<readonly number[]> {
    const statuses = new Set<number>()
    let requests = 0
    const call = async () => {
      while (!isOver(requests)) {
        requests++
        const status = await this.#sendPlain()
        statuses.add(status)
        if (status !== 200) await Bun.sleep(RETRY_MS)
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    return [...statuses].toSorted((one, other) => one - other)
  }

  /**
   * Sends adjustments of several pets, and updates, each with an Idempotency-Key: also twice at once, again after an abandoned
   * or missing response, long after the response, and with another body. Requests without a response wait for `settle`.
   */
  async sendKeyed(callers: number, isOver: () => boolean): Promise<void> {
    const call = async () => {
      while (!isOver()) await this.#sendKeyed(isOver)
    }
    await Promise.all(Array.from({ length: callers }, call))
  }

  /** Repeats requests without a response until they have one, and answered ones, whose response must be the same. */
  async settle(): Promise<void> {
    for (const request of this.#unanswered) await this.#repeatUntil(request, () => false)
    this.#unanswered.clear()
    for (const request of this.#answered.splice(0)) await this.#send(request, this.#pickAddress())
  }

  /** Sets any pet to a new quantity. */
  async update(address: string, key = this.#options.key): Promise<Answer> {
    const petId = this.#random.pick(this.#options.petIds)
    const quantity = ++this.#quantities
    const began = performance.now()
    const body = JSON.stringify({ quantity })
    const answer = await this.#fetch(address, `/inventory/${petId}`, { method: 'PATCH', body }, { key })
    this.#record('write', [{ petId, quantity }], began, answer.status !== 200)
    return answer
  }

  /** All contradictions between the responses and the logs of the pets. */
  async violations(databaseUrl: string): Promise<readonly string[]> {
    const store = await openStore(databaseUrl, { tables: 'require_current_tables' })
    const histories = this.#options.petIds.map(
      async (petId) => [petId, await historyOf(store, BigInt(petId))] as const,
    )
    const logs = new Map(await Promise.all(histories))
    await store.close()
    return [...contradictions(this.operations, logs), ...this.surprises]
  }

  async #sendPlain(): Promise<number> {
    const choice = this.#random.next()
    if (choice < 0.5) return (await this.update(this.#pickAddress())).status
    return this.#read(choice < 0.75 ? undefined : this.#random.pick(this.#options.petIds))
  }

  async #read(petId?: number): Promise<number> {
    const began = performance.now()
    const path = petId === undefined ? '/inventory' : `/inventory/${petId}`
    const { status, text } = await this.#fetch(this.#pickAddress(), path, {})
    if (status === 200) this.#record('read', [JSON.parse(text)].flat(), began)
    return status
  }

  async #sendKeyed(isOver: () => boolean): Promise<void> {
    const request = await this.#compose()
    const how = this.#random.next()
    const patienceMs = how < 0.3 ? IMPATIENCE_MS * this.#random.next() : PATIENCE_MS
    const copies = how < 0.6 ? 1 : 2
    await Promise.all(
      Array.from({ length: copies }, () => this.#send(request, this.#pickAddress(), patienceMs)),
    )
    await this.#repeatUntil(request, isOver)
    const { answers, body } = request
    if (answers.length === 0) {
      this.#unanswered.add(request)
      return
    }
    if (request.copies === answers.length && answers.every(isReplay)) {
      this.surprises.push(`${body} was answered as if it had been sent before`)
    }
    this.#answered = [...this.#answered, request].slice(-MAX_KEPT)
    if (this.#random.chance(0.1)) await this.#send(request, this.#pickAddress())
    if (this.#random.chance(0.1)) await this.#reuseKey(request)
  }

  async #repeatUntil(request: KeyedRequest, isOver: () => boolean): Promise<void> {
    while (request.answers.length === 0 && !isOver()) {
      await Bun.sleep(RETRY_MS)
      await this.#send(request, this.#pickAddress())
    }
  }

  async #compose(): Promise<KeyedRequest> {
    const random = this.#random
    const shared = { idempotencyKey: crypto.randomUUID(), copies: 0, answers: [] }
    if (random.chance(0.3)) {
      const change = { petId: random.pick(this.#options.petIds), quantity: ++this.#quantities }
      const body = JSON.stringify({ quantity: change.quantity })
      const path = `/inventory/${change.petId}`
      return { ...shared, method: 'PATCH', path, body, changes: [change], began: performance.now() }
    }
    const petIds = new Set(
      Array.from({ length: random.integer(1, 3) }, () => random.pick(this.#options.petIds)),
    )
    const changes: Change[] = []
    for (const petId of petIds) changes.push(await this.#composeChange(petId))
    // Not a fourth: a repeated refusal lists only the first three failures.
    if (random.chance(0.03)) changes[0] = { petId: UNKNOWN_PET, delta: 1 }
    const body = JSON.stringify({ reason: 'corrected', changes })
    const path = '/inventory/adjustments'
    return { ...shared, method: 'POST', path, body, changes, began: performance.now() }
  }

  async #composeChange(petId: number): Promise<Change> {
    const choice = this.#random.next()
    if (choice < 0.45) return { petId, delta: UP }
    if (choice < 0.55) return { petId, delta: -DOWN }
    const quantity = ++this.#quantities
    if (choice > 0.7 || (await this.#read(petId)) !== 200) return { petId, quantity }
    const seen = this.operations.findLast(({ pets }) => pets.some((pet) => pet.petId === petId))
    const expected = seen?.pets.find((pet) => pet.petId === petId)?.quantity ?? 0
    return { petId, quantity, expected }
  }

  async #send(request: KeyedRequest, address: string, patienceMs = PATIENCE_MS): Promise<void> {
    const { method, path, body, idempotencyKey, answers } = request
    if (request.copies++ > 0) this.counts.repeated++
    const answer = await this.#fetch(address, path, { method, body }, { idempotencyKey, patienceMs })
    // A 503 does not say whether it was made.
    if (answer.status === 0 || answer.status === 503) return
    const [first] = answers
    answers.push(answer)
    if (first === undefined) this.#judge(request, answer)
    else if (first.status !== answer.status || first.text !== answer.text) {
      this.surprises.push(
        `${body} was answered ${first.status} ${first.text}, then ${answer.status} ${answer.text}`,
      )
    }
    if (answers.filter((one) => !isReplay(one)).length > 1) this.surprises.push(`${body} was decided twice`)
  }

  /** Another request with the same key is refused by every instance. */
  async #reuseKey({ idempotencyKey, method, path, changes }: KeyedRequest): Promise<void> {
    const change = { petId: changes[0]?.petId, quantity: ++this.#quantities }
    const other = method === 'PATCH' ? { quantity: change.quantity } : { reason: 'lost', changes: [change] }
    const init = { method, body: JSON.stringify(other) }
    const { status } = await this.#fetch(this.#pickAddress(), path, init, { idempotencyKey })
    if (status === 0 || status === 503) return
    this.counts.reused++
    if (status !== 422) this.surprises.push(`the key of another request was answered ${status}`)
  }

  #judge({ method, body, changes, began }: KeyedRequest, { status, text }: Answer): void {
    if (status !== 200) {
      this.counts.refused++
      if (![404, 409, 412].includes(status)) this.surprises.push(`${body} was answered ${status} ${text}`)
      return
    }
    this.counts.made++
    const answer = JSON.parse(text)
    const items: readonly PetQuantity[] = method === 'PATCH' ? [answer] : answer.items
    const pets = changes.map(({ petId, delta, quantity, expected }, index): PetQuantity => {
      const item = items[index]
      if (item?.petId !== petId || (quantity ?? item.quantity) !== item.quantity) {
        this.surprises.push(`${body} was answered with ${text}`)
      }
      const after = item?.quantity ?? Number.NaN
      const before = delta === undefined ? expected : after - delta
      return { petId, quantity: after, ...(before === undefined ? {} : { before }) }
    })
    this.#record('write', pets, began)
  }

  #record(type: Operation['type'], pets: readonly PetQuantity[], began: number, isUnsure = false): void {
    this.operations.push({ type, pets, began, ended: performance.now(), isUnsure })
  }

  async #fetch(
    address: string,
    path: string,
    init: { readonly method?: string; readonly body?: string },
    { key = this.#options.key, idempotencyKey = '', patienceMs = PATIENCE_MS } = {},
  ): Promise<Answer> {
    try {
      const response = await fetch(`${address}/v1${path}`, {
        ...init,
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          ...(idempotencyKey === '' ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        signal: AbortSignal.timeout(patienceMs),
      })
      return { status: response.status, text: await response.text(), headers: response.headers }
    } catch {
      return { status: 0, text: '', headers: new Headers() }
    }
  }

  #pickAddress(): string {
    return this.#random.pick(this.#options.addresses)
  }
}

function isReplay({ headers }: Answer): boolean {
  return headers.has('Idempotency-Replayed')
}
