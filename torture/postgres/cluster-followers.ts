import { EventReader, type ReceivedEvent } from '../../server/test/support/event-reader.ts'
import type { Received } from '../../server/test/support/webhook-receiver.ts'
import { CLUSTER_PETS, type ClusterLoad, LAST_PET, type SentOrder } from './cluster-load.ts'
import { readHistory } from './pet-history.ts'

const RETRY_MS = 100

/** Reads the event stream, and reconnects with the id of the last event whenever the stream ends. */
export class StreamFollower {
  readonly surprises: string[] = []
  readonly #addresses: readonly string[]
  readonly #key: string
  readonly #readers: EventReader[] = []
  #isOver = false
  #running: Promise<void> | undefined

  constructor(addresses: readonly string[], key: string) {
    this.#addresses = addresses
    this.#key = key
  }

  /** Resolves once the stream has begun. */
  async start(): Promise<void> {
    const first = await this.#open()
    await first?.until(() => first.events.length > 0)
    this.#running = this.#follow()
  }

  get events(): ReceivedEvent[] {
    return this.#readers.flatMap(({ events }) => events)
  }

  get connections(): number {
    return this.#readers.length
  }

  /** Ends the connection; the next one goes to another instance. */
  reconnect(): void {
    this.#readers.at(-1)?.close()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.reconnect()
    await this.#running
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      const reader = this.#readers.at(-1)
      if (reader !== undefined && reader.ended === undefined) await Bun.sleep(RETRY_MS / 10)
      else if ((await this.#open()) === undefined) await Bun.sleep(RETRY_MS)
    }
  }

  async #open(): Promise<EventReader | undefined> {
    const lastId = this.events.at(-1)?.id
    const address = this.#addresses[this.#readers.length % this.#addresses.length]
    try {
      const reader = await EventReader.open(
        `${address}/v1/inventory/events`,
        this.#key,
        lastId === undefined ? {} : { 'Last-Event-ID': lastId },
      )
      const { status } = reader.response
      if (status === 200) {
        this.#readers.push(reader)
        return reader
      }
      reader.close()
      if (status !== 503) this.surprises.push(`an event stream was refused with status ${status}`)
    } catch {
      // The instance does not respond; the next attempt comes soon.
    }
    return undefined
  }
}

/** What a follower received: quantities of each pet and changes of each order, in order of arrival. */
interface Feed {
  readonly quantities: ReadonlyMap<number, readonly number[]>
  readonly orderChanges: ReadonlyMap<number, readonly string[]>
  readonly relists: number
  readonly repeats: number
}

export function feedOfStream(events: readonly ReceivedEvent[]): Feed {
  return feedOf(events.map(({ id, name, data }) => ({ id, name, data: JSON.parse(data || '{}') })))
}

export function feedOfWebhook(received: readonly Received[]): Feed {
  return feedOf(
    received.map(({ id, type, data }) => {
      const name = id.startsWith('relist_') ? 'relist' : type === 'stock.changed' ? 'change' : 'order'
      return { id, name, data }
    }),
  )
}

interface FeedEvent {
  readonly id: string
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: its shape depends on its name
  readonly data: any
}

function feedOf(events: readonly FeedEvent[]): Feed {
  const seen = new Set<string>()
  const firsts = events.filter(({ id, name }) => name !== 'ready' && !seen.has(id) && seen.add(id))
  const named = (name: string) => firsts.filter((event) => event.name === name)
  return {
    quantities: grouped(named('change'), ({ data }) => [Number(data.petId), Number(data.after)]),
    orderChanges: grouped(named('order'), ({ data }) => [Number(data.order.id), String(data.change)]),
    relists: named('relist').length,
    repeats: events.filter(({ name }) => name !== 'ready').length - firsts.length,
  }
}

function grouped<T>(
  events: readonly FeedEvent[],
  read: (event: FeedEvent) => readonly [id: number, value: T],
): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const event of events) {
    const [id, value] = read(event)
    const group = groups.get(id)
    if (group === undefined) groups.set(id, [value])
    else group.push(value)
  }
  return groups
}

export function hasLastChange({ quantities }: Feed): boolean {
  return quantities.has(LAST_PET)
}

export interface FeedProblems {
  readonly expected: number
  readonly lost: number
  readonly relists: number
  readonly repeats: number
  readonly violations: readonly string[]
}

/** All events of the log, by pet and by order. */
export interface ExpectedEvents {
  readonly quantities: ReadonlyMap<number, readonly number[]>
  readonly orderChanges: ReadonlyMap<number, readonly string[]>
}

const ORDER_CHANGES: Readonly<Record<SentOrder['state'], readonly string[]>> = {
  open: ['created'],
  complete: ['created', 'completed'],
  cancelled: ['created', 'cancelled'],
}

export async function expectedEvents(
  load: ClusterLoad,
  caller: { readonly address: string; readonly key: string },
): Promise<ExpectedEvents> {
  const quantities = new Map<number, readonly number[]>()
  for (const petId of CLUSTER_PETS) {
    const history = await readHistory(caller, petId)
    quantities.set(
      petId,
      history.map(({ after }) => after),
    )
  }
  const orderChanges = new Map([...load.orders].map(([id, { state }]) => [id, ORDER_CHANGES[state]]))
  return { quantities, orderChanges }
}

/** Every change must arrive at least once, and those of one pet in order. */
export function problemsOf(name: string, feed: Feed, expected: ExpectedEvents): FeedProblems {
  let lost = 0
  let count = 0
  const violations: string[] = []
  const compare = <T>(
    what: string,
    made: ReadonlyMap<number, readonly T[]>,
    arrived: ReadonlyMap<number, readonly T[]>,
  ) => {
    for (const [id, values] of made) {
      const got = arrived.get(id) ?? []
      const distinct = new Set(got)
      const missing = values.filter((value) => !distinct.has(value)).length
      count += values.length
      lost += missing
      if (missing === 0 && !Bun.deepEquals(got, values)) {
        violations.push(`${name}: the events of ${what} ${id} came in another order or more than once`)
      }
    }
  }
  compare('pet', expected.quantities, feed.quantities)
  compare('order', expected.orderChanges, feed.orderChanges)
  if (lost > 0) violations.push(`${name}: ${lost} of ${count} events were lost`)
  if (feed.relists > 0) violations.push(`${name}: ${feed.relists} relists`)
  return { expected: count, lost, relists: feed.relists, repeats: feed.repeats, violations }
}
