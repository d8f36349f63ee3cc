import { SYSTEM_KEY_ID } from '../../../src/core/stock/command.ts'
import type { ChangedBy } from './outcome.ts'

/** An event of one pet; numbers are `bigint`. */
export interface ModelEvent {
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The expected events of each pet, in order. Compared events are removed. */
export class ModelEvents {
  #byPet = new Map<bigint, ModelEvent[]>()
  crossings = 0

  tell(petId: bigint, kind: string, data: ModelEvent['data'], by: ChangedBy): void {
    const events = this.#byPet.get(petId) ?? []
    this.#byPet.set(petId, events)
    events.push({ kind, data: { ...data, at: new Date(by.at).toISOString(), keyId: by.id } })
    if (kind === 'low' || kind === 'recovered') this.crossings++
  }

  get count(): number {
    return this.#byPet.values().reduce((sum, { length }) => sum + length, 0)
  }

  /** The differences to all events since the last call. */
  compare(told: readonly ModelEvent[]): string[] {
    const toldByPet = Map.groupBy(told, petOf)
    const petIds = new Set([...toldByPet.keys(), ...this.#byPet.keys()])
    const wrong = Array.from(petIds).flatMap((petId) => {
      const [got, wanted] = [toldByPet.get(petId) ?? [], this.#byPet.get(petId) ?? []].map(comparable)
      return Bun.deepEquals(got, wanted)
        ? []
        : [`the events of petId ${petId} are ${Bun.inspect(got)}, expected ${Bun.inspect(wanted)}`]
    })
    this.#byPet = new Map()
    return wrong
  }
}

function petOf({ data }: ModelEvent): bigint {
  const { order, petId } = data as { readonly order?: { readonly petId: bigint }; readonly petId?: bigint }
  const id = order?.petId ?? petId
  if (typeof id !== 'bigint') throw new Error(`an event is of no pet: ${Bun.inspect(data)}`)
  return id
}

/**
 * The service chooses when it records the expiry of a hold, within a second of a real clock: one by one or
 * together. So the time at which a pet recovers by it is open, but not that it does, and between which events.
 */
function comparable(events: readonly ModelEvent[]): ModelEvent[] {
  const all: ModelEvent[] = []
  let ended: ModelEvent[] = []
  const flush = () => {
    all.push(...ended.sort((one, other) => rankOf(one) - rankOf(other)))
    ended = []
  }
  for (const event of events) {
    const { at: _, reserved: __, available: ___, ...data } = event.data
    if (isEndOfHold(event)) ended.push({ ...event, data })
    else {
      flush()
      all.push(event)
    }
  }
  flush()
  return all
}

function isEndOfHold({ kind, data }: ModelEvent): boolean {
  return data.keyId === SYSTEM_KEY_ID && (kind === 'order' || kind === 'recovered')
}

function rankOf({ data }: ModelEvent): number {
  const { order } = data as { readonly order?: { readonly id: bigint } }
  return order === undefined ? Number.POSITIVE_INFINITY : Number(order.id)
}
