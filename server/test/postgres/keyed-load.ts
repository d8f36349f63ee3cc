import type { Operation } from './register-check.ts'

/** A request that got 200: its effect on each pet, and its time. */
export interface MadeRequest {
  readonly changes: readonly MadeChange[]
  readonly began: number
  readonly ended: number
}

export interface MadeChange {
  readonly petId: number
  /** Known if the request has a delta or `expected`. */
  readonly before?: number
  readonly after: number
}

export interface KeyedLoadOptions {
  readonly key: string
  readonly petIds: readonly number[]
  readonly callers: number
  /** The next unused value below `DOWN`: each is written once. */
  readonly nextValue: () => number
  /** From 0 up to 1; decides what is sent. */
  readonly random: () => number
}

/**
 * No pet has the same quantity twice, so a quantity identifies its origin: set values are below `DOWN`; deltas
 * then add `UP` or subtract `DOWN`, and there are too few subtractions to cancel out one `UP`.
 */
export const UP = 10_000_000_000
export const DOWN = 10_000_000
const UNKNOWN_PET = 987_654
/** Longer than anything here may take. */
const PATIENCE_MS = 60_000
const RETRY_MS = 10
/** Time until a response is abandoned: some arrive earlier, some later, and some changes are made without one. */
const IMPATIENCE_MS = 4
/** How many of the latest answered requests are repeated after a crash. */
const MAX_KEPT = 40

/** One change of an adjustment, as it is sent. */
type Wish = { readonly petId: number; readonly expected?: number } & (
  | { readonly delta: number }
  | { readonly quantity: number }
)

interface Told {
  readonly status: number
  readonly text: string
  readonly isReplay: boolean
  readonly ended: number
}

/** A request that is sent repeatedly, always with the same key. */
interface Sent {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly body: string
  readonly wishes: readonly Wish[]
  readonly began: number
  copies: number
  /** At most one of these is not a replay. */
  readonly answers: Told[]
}

/**
 * Callers that adjust several pets at once, and update one, each time with an Idempotency-Key. They repeat
 * requests: twice at once, after an abandoned or missing response, long after the response, and with another
 * body.
 */
export class KeyedLoad {
  /** For the register check: a change has the quantities before and after it. */
  readonly operations: Operation[] = []
  readonly made: MadeRequest[] = []
  /** Unexpected responses. */
  readonly surprises: string[] = []
  readonly counts = { made: 0, refused: 0, repeated: 0, reused: 0, unanswered: 0 }
  readonly #options: KeyedLoadOptions
  /** Requests without a response so far. */
  readonly #open = new Set<Sent>()
  #answered: Sent[] = []

  constructor(options: KeyedLoadOptions) {
    this.#options = options
  }

  /** Each request goes to one or two of the addresses. Requests without a response at the end wait for `settle`. */
  async run(addresses: readonly string[], isOver: () => boolean): Promise<void> {
    const caller = async () => {
      while (!isOver()) await this.#step(addresses, isOver)
    }
    await Promise.all(Array.from({ length: this.#options.callers }, caller))
  }

  /** Repeats requests without a response until they have one, and answered ones, whose response must be the same. */
  async settle(addresses: readonly string[]): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    this.counts.unanswered += this.#open.size
    for (const sent of this.#open) {
      await this.#repeat(sent, addresses, () => performance.now() > deadline)
      if (sent.answers.length === 0) throw new Error(`${sent.body} is not answered`)
      this.#open.delete(sent)
    }
    for (const sent of this.#answered.splice(0)) await this.#send(sent, this.#pick(addresses))
  }

  async #step(addresses: readonly string[], isOver: () => boolean): Promise<void> {
    const { random } = this.#options
    const sent = await this.#compose(addresses)
    const how = random()
    if (how < 0.3) {
      const [one, other] = this.#two(addresses)
      await Promise.all([this.#send(sent, one), this.#send(sent, other)])
    } else {
      const patienceMs = how < 0.6 ? 1 + random() * IMPATIENCE_MS : PATIENCE_MS
      await this.#send(sent, this.#pick(addresses), patienceMs)
    }
    await this.#repeat(sent, addresses, isOver)
    if (sent.answers.length === 0) {
      this.#open.add(sent)
      return
    }
    if (sent.copies === sent.answers.length && sent.answers.every(({ isReplay }) => isReplay)) {
      this.surprises.push(`${sent.body} was answered as if it had been sent before`)
    }
    this.#answered = [...this.#answered, sent].slice(-MAX_KEPT)
    if (random() < 0.1) await this.#send(sent, this.#pick(addresses))
    if (random() < 0.1) await this.#reuse(sent, this.#pick(addresses))
  }

  async #repeat(sent: Sent, addresses: readonly string[], isOver: () => boolean): Promise<void> {
    while (sent.answers.length === 0 && !isOver()) {
      await Bun.sleep(RETRY_MS)
      await this.#send(sent, this.#pick(addresses))
    }
  }

  async #compose(addresses: readonly string[]): Promise<Sent> {
    const { random, nextValue, petIds } = this.#options
    const facts = { id: crypto.randomUUID(), copies: 0, answers: [] }
    if (random() < 0.3) {
      const [petId, quantity] = [this.#pick(petIds), nextValue()]
      const wishes = [{ petId, quantity }]
      const body = JSON.stringify({ quantity })
      const request = { method: 'PATCH', path: `/inventory/${petId}`, body, wishes }
      return { ...facts, ...request, began: performance.now() }
    }
    const left = new Set(petIds)
    const wishes: Wish[] = []
    for (let count = 1 + Math.floor(random() * 3); count > 0 && left.size > 0; count--) {
      const petId = this.#pick([...left])
      left.delete(petId)
      wishes.push(await this.#wish(petId, addresses))
    }
    // Not a fourth: a repeated refusal lists only the first three failures.
    if (random() < 0.03) wishes[0] = { petId: UNKNOWN_PET, delta: 1 }
    const body = JSON.stringify({ reason: 'corrected', changes: wishes })
    const request = { method: 'POST', path: '/inventory/adjustments', body, wishes }
    return { ...facts, ...request, began: performance.now() }
  }

  async #wish(petId: number, addresses: readonly string[]): Promise<Wish> {
    const { random, nextValue } = this.#options
    const choice = random()
    if (choice < 0.45) return { petId, delta: UP }
    if (choice < 0.55) return { petId, delta: -DOWN }
    const seen = choice < 0.7 ? await this.#look(petId, this.#pick(addresses)) : undefined
    return { petId, quantity: nextValue(), ...(seen === undefined ? {} : { expected: seen }) }
  }

  async #look(petId: number, address: string): Promise<number | undefined> {
    const began = performance.now()
    const told = await this.#fetch(address, `/inventory/${petId}`, {})
    if (told?.status !== 200) return undefined
    const { quantity }: { quantity: number } = JSON.parse(told.text)
    this.#saw(petId, quantity, { began, ended: told.ended })
    return quantity
  }

  async #send(sent: Sent, address: string, patienceMs = PATIENCE_MS): Promise<void> {
    const { method, path, body } = sent
    if (sent.copies++ > 0) this.counts.repeated++
    const told = await this.#fetch(address, path, { method, body }, sent.id, patienceMs)
    // A 503 does not say whether it was made.
    if (told === undefined || told.status === 503) return
    const [first] = sent.answers
    sent.answers.push(told)
    if (first === undefined) this.#judge(sent, told)
    else if (first.status !== told.status || first.text !== told.text) {
      this.surprises.push(
        `${body} was answered ${first.status} ${first.text}, then ${told.status} ${told.text}`,
      )
    }
    if (!told.isReplay && sent.answers.filter(({ isReplay }) => !isReplay).length === 2) {
      this.surprises.push(`${body} was decided twice`)
    }
  }

  /** Another request with the same key is rejected by every instance. */
  async #reuse({ id, method, path, wishes }: Sent, address: string): Promise<void> {
    const [petId, quantity] = [wishes[0]?.petId, this.#options.nextValue()]
    const other = method === 'PATCH' ? { quantity } : { reason: 'lost', changes: [{ petId, quantity }] }
    const told = await this.#fetch(address, path, { method, body: JSON.stringify(other) }, id)
    if (told === undefined || told.status === 503) return
    this.counts.reused++
    if (told.status !== 422) this.surprises.push(`a key of another request was answered ${told.status}`)
  }

  #judge(sent: Sent, { status, text, ended }: Told): void {
    const { wishes, began } = sent
    const body = JSON.parse(text)
    const during = { began, ended }
    if (status !== 200) {
      this.counts.refused++
      this.#judgeRefusal(sent, status, body.details ?? [], during)
      return
    }
    const items: { petId: number; quantity: number }[] = sent.method === 'PATCH' ? [body] : body.items
    const changes = wishes.map((wish, index): MadeChange => {
      const { petId, quantity } = items[index] ?? { petId: Number.NaN, quantity: Number.NaN }
      if (petId !== wish.petId || ('quantity' in wish && quantity !== wish.quantity)) {
        this.surprises.push(`${sent.body} was answered with ${text}`)
      }
      const before = 'delta' in wish ? quantity - wish.delta : wish.expected
      return before === undefined ? { petId, after: quantity } : { petId, before, after: quantity }
    })
    for (const { petId, before, after } of changes) {
      if (before !== undefined) this.#saw(petId, before, during)
      this.operations.push({ kind: 'write', petId, value: after, ...during })
    }
    this.counts.made++
    this.made.push({ changes, ...during })
  }

  /** Each detail names the quantity that caused its rejection: the pet had it, and it justifies the rejection. */
  #judgeRefusal(
    { body, wishes }: Sent,
    status: number,
    details: readonly { index: number; code: string; message: string }[],
    during: { readonly began: number; readonly ended: number },
  ): void {
    const reasons = details.map(({ index, code, message }): number | undefined => {
      const wish = wishes[index]
      if (wish === undefined) return undefined
      if (code === 'not_found') return wish.petId === UNKNOWN_PET ? 404 : undefined
      const quantity = Number(/the quantity of petId \d+ is (\d+)/.exec(message)?.[1])
      this.#saw(wish.petId, quantity, during)
      if (code === 'precondition_failed') return wish.expected === quantity ? undefined : 412
      return code === 'insufficient_stock' && 'delta' in wish && quantity + wish.delta < 0 ? 409 : undefined
    })
    if (reasons.includes(undefined) || !reasons.includes(status)) {
      this.surprises.push(`${body} was answered ${status} for ${JSON.stringify(details)}`)
    }
  }

  #saw(petId: number, value: number, during: { readonly began: number; readonly ended: number }): void {
    this.operations.push({ kind: 'read', petId, value, ...during })
  }

  async #fetch(
    address: string,
    path: string,
    init: { readonly method?: string; readonly body?: string },
    id?: string,
    patienceMs = PATIENCE_MS,
  ): Promise<Told | undefined> {
    try {
      const response = await fetch(`${address}/v1${path}`, {
        ...init,
        headers: {
          Authorization: `Bearer ${this.#options.key}`,
          'Content-Type': 'application/json',
          ...(id === undefined ? {} : { 'Idempotency-Key': id }),
        },
        signal: AbortSignal.timeout(patienceMs),
      })
      const text = await response.text()
      const isReplay = response.headers.get('Idempotency-Replayed') === 'true'
      return { status: response.status, text, isReplay, ended: performance.now() }
    } catch {
      return undefined
    }
  }

  #two(addresses: readonly string[]): [string, string] {
    const one = this.#pick(addresses)
    const others = addresses.filter((address) => address !== one)
    return [one, others.length === 0 ? one : this.#pick(others)]
  }

  #pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#options.random() * list.length)]
    if (one === undefined) throw new Error('there is nothing to choose from')
    return one
  }
}
