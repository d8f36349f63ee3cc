import { HostileSocket, type WireAnswer } from '../../../../wire/test/hostile-socket.ts'
import { randomFrom } from '../../../scripts/torture-task.ts'
import type { StockedPet } from '../../../src/core/catalog/pet.ts'
import type { Store } from '../../../src/store/store.ts'
import { checkAgainstContract } from '../../support/contract-check.ts'
import { TestService } from '../../support/test-service.ts'
import { type FuzzRequest, nextRequest } from './requests.ts'
import type { Random } from './values.ts'

/** Each lane has its own pets, so that the expected stock is known despite concurrent requests. */
const LANES = 8
const PETS_A_LANE = 5
/** After this many requests per lane, the whole stock is compared. */
const COMPARE_EVERY = 250
const MAX_ATTEMPTS = 5

export interface FuzzOptions {
  readonly seed: number
  readonly onPostgres: boolean
  /** Whether to stop, called between rounds with the number of requests. */
  readonly isOver: (requests: number) => boolean
  /** Injects a fault. */
  readonly wrapStore?: (store: Store) => Store
}

export interface FuzzOutcome {
  readonly requests: number
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>
  readonly updates: number
  readonly violations: readonly string[]
}

/** Sends requests generated from the contract to a real service, and returns every wrong response. */
export async function fuzz({ seed, onPostgres, isOver, wrapStore }: FuzzOptions): Promise<FuzzOutcome> {
  const pets = stock()
  const service = await TestService.start({
    pets,
    onPostgres,
    realTime: true,
    anonymousPerMinute: 1_000_000_000,
    ...(wrapStore === undefined ? {} : { wrapStore }),
  })
  const run = new FuzzRun(service, seed, pets)
  try {
    while (!isOver(run.requests) && run.violations.length < 20) await run.round()
  } finally {
    run.end()
    await service.stop()
  }
  return run
}

class FuzzRun implements FuzzOutcome {
  requests = 0
  updates = 0
  readonly statuses: Record<number, number> = {}
  readonly violations: string[] = []
  readonly #service: TestService
  /** One per lane, so that its requests do not depend on the speed of the others. */
  readonly #randoms: readonly Random[]
  readonly #lanes: bigint[][]
  readonly #expected: Map<bigint, { quantity: number; status: string }>
  /** Orders created by each lane, and all completed ones. */
  readonly #orders: bigint[][] = Array.from({ length: LANES }, () => [])
  readonly #completed = new Set<string>()
  /** Pets created by each lane that still exist. */
  readonly #made: bigint[][] = Array.from({ length: LANES }, () => [])
  /** The last cursors that each lane received. */
  readonly #cursors: string[][] = Array.from({ length: LANES }, () => [])
  readonly #sockets: (HostileSocket | undefined)[] = []

  constructor(service: TestService, seed: number, pets: readonly StockedPet[]) {
    this.#service = service
    this.#randoms = Array.from({ length: LANES }, (_, lane) => randomFrom(seed * LANES + lane))
    this.#expected = new Map(pets.map(({ id, quantity, status }) => [id, { quantity, status }]))
    this.#lanes = Array.from({ length: LANES }, (_, lane) =>
      pets.filter((_pet, index) => index % LANES === lane).map(({ id }) => id),
    )
  }

  async round(): Promise<void> {
    await Promise.all(
      this.#lanes.map(async (pets, lane) => {
        const random = this.#randoms[lane] ?? Math.random
        for (let sent = 0; sent < COMPARE_EVERY; sent++) {
          const orders = this.#orders[lane]?.slice(-8) ?? []
          const cursors = this.#cursors[lane] ?? []
          const madePets = this.#made[lane] ?? []
          const { key } = this.#service
          await this.#send(lane, nextRequest({ random, key, pets, orders, madePets, cursors }))
        }
      }),
    )
    await this.#compareStock()
  }

  end(): void {
    for (const socket of this.#sockets) socket?.end()
  }

  /** On a busy machine the database may answer too late, which is 503: the request is then sent again. */
  async #send(lane: number, request: FuzzRequest, attempt = 1): Promise<void> {
    let socket = this.#sockets[lane]
    if (socket === undefined || socket.isClosed) {
      socket = await HostileSocket.open(this.#service.port)
      this.#sockets[lane] = socket
    }
    socket.send(request.bytes)
    this.requests++
    const answer = await socket.answer(request.method)
    if (answer === undefined) {
      this.#complain(request, undefined, 'the connection was closed without an answer')
      return
    }
    if (answer.status === 503 && attempt < MAX_ATTEMPTS) {
      await Bun.sleep(1_000)
      return this.#send(lane, request, attempt + 1)
    }
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1
    const wrong =
      this.#judge(request, answer) ??
      this.#acknowledgeOrder(lane, answer) ??
      this.#acknowledgePet(lane, request, answer)
    if (wrong !== undefined) this.#complain(request, answer, wrong)
    const cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
    if (cursor !== undefined)
      this.#cursors[lane]?.splice(0, 8, cursor, ...(this.#cursors[lane] ?? []).slice(0, 8))
    // The head of a stream is enough.
    const isOver =
      answer.headers.get('Content-Type') === 'text/event-stream' ||
      answer.headers.get('Connection') === 'close'
    if (isOver) socket.end()
  }

  #judge(request: FuzzRequest, answer: WireAnswer): string | undefined {
    const { status } = answer
    if (status >= 500) return 'a failure'
    if (request.intent === 'invalid' && status < 400) return 'an invalid request was taken'
    if (request.intent === 'valid' && answer.headers.get('Connection') === 'close') {
      return 'the connection was not kept'
    }
    if (request.intent === 'valid' && status >= 400 && status !== 429) return 'a valid request was refused'
    try {
      // A path that leads elsewhere is only checked against the form of errors.
      const path = request.isRouted ? request.path : '/nowhere'
      checkAgainstContract(request.method, path, answer)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    const isChange = /^(?:PATCH|POST)$/.test(request.method) && status === 200
    return isChange && !answer.headers.has('Idempotency-Replayed')
      ? this.#acknowledge(request, answer)
      : undefined
  }

  #acknowledge({ update }: FuzzRequest, { text }: WireAnswer): string | undefined {
    for (const [, digits = '', quantity] of text.matchAll(/\{"petId":(-?\d+),"quantity":(\d+),/g)) {
      const entry = this.#expected.get(BigInt(digits))
      if (entry === undefined) return 'an update of a pet that does not exist was taken'
      this.updates++
      entry.quantity = Number(quantity)
      if (update !== undefined && (String(update.petId) !== digits || update.quantity !== entry.quantity)) {
        return `the update was to set ${update.petId} to ${update.quantity}`
      }
    }
    return undefined
  }

  /** An acknowledged order can be completed once. */
  #acknowledgeOrder(lane: number, { status, text, headers }: WireAnswer): string | undefined {
    const [, id, petId = '', quantity, state] =
      /^\{"id":(-?\d+),"petId":(-?\d+),"quantity":(\d+),.*"state":"(\w+)"/.exec(text) ?? []
    if (id === undefined || headers.has('Idempotency-Replayed')) return undefined
    const entry = this.#expected.get(BigInt(petId))
    if (entry === undefined) return 'there is an order of a pet that does not exist'
    if (status === 201) this.#orders[lane]?.push(BigInt(id))
    if (state !== 'complete' || this.#completed.has(id)) return undefined
    this.#completed.add(id)
    entry.quantity -= Number(quantity)
    return undefined
  }

  /** Applies an acknowledged creation, change or removal of a pet to the expected stock. */
  #acknowledgePet(lane: number, { method, path, body }: FuzzRequest, answer: WireAnswer): string | undefined {
    const { status, text, headers } = answer
    const made = this.#made[lane] ?? []
    if (method === 'GET' || !path.startsWith('/pets') || headers.has('Idempotency-Replayed')) return undefined
    if (status === 204) {
      const petId = BigInt(decodeURIComponent(/^\/pets\/([^?]*)/.exec(path)?.[1] ?? ''))
      made.splice(made.indexOf(petId), 1)
      return this.#expected.delete(petId) ? undefined : 'a pet that was not there was removed'
    }
    const [, id, state] = /^\{"id":(-?\d+),"name":.*"status":"(\w+)"/.exec(text) ?? []
    if (id === undefined || state === undefined) return undefined
    if (status === 201) {
      const { quantity = 0 } = JSON.parse(body ?? '{}') as { quantity?: number }
      this.#expected.set(BigInt(id), { quantity, status: state })
      made.push(BigInt(id))
      return undefined
    }
    const entry = this.#expected.get(BigInt(id))
    if (entry === undefined) return 'a pet that is not there was changed'
    entry.status = state
    return undefined
  }

  async #compareStock(): Promise<void> {
    const answer = await this.#service.fetch('GET', '/v1/inventory')
    const entries = [...this.#expected].sort(([one], [other]) => (one < other ? -1 : 1))
    const expected = entries.map(
      ([petId, { quantity, status }]) => `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`,
    )
    if (answer.text === `[${expected.join(',')}]`) return
    const shown = answer.text.slice(1, -1).replaceAll('},{', '}\n{').split('\n')
    const [more, missing] = [
      shown.filter((item) => !expected.includes(item)),
      expected.filter((item) => !shown.includes(item)),
    ].map((items) => items.slice(0, 5).join())
    this.violations.push(`the stock is not what the answers said: it has ${more}, and not ${missing}`)
  }

  #complain({ bytes, intent }: FuzzRequest, answer: WireAnswer | undefined, wrong: string): void {
    const got = answer === undefined ? '' : `, got ${answer.status} ${answer.text.slice(0, 200)}`
    this.violations.push(`${wrong} (meant to be ${intent}): ${JSON.stringify(bytes.slice(0, 600))}${got}`)
  }
}

/** Ids that reveal rounding to doubles, lost signs and overflow at the ends of int64. */
function stock(): StockedPet[] {
  const special = [
    0n,
    -1n,
    1n,
    9007199254740993n,
    -9007199254740993n,
    9223372036854775807n,
    -9223372036854775808n,
  ]
  const ids = [
    ...special,
    ...Array.from({ length: LANES * PETS_A_LANE - special.length }, (_, n) => BigInt(n + 2)),
  ]
  const statuses = ['available', 'pending', 'sold'] as const
  return ids.map((id, index) => ({
    id,
    name: `Pet ${id}`,
    categoryId: 1n,
    status: statuses[index % 3] ?? 'sold',
    quantity: index,
  }))
}
