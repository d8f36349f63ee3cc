import { SYSTEM_KEY_ID } from '../../../src/core/stock/command.ts'
import type { ChangedBy } from './outcome.ts'

/** An event of one pet, or of a category; numbers are `bigint`. */
export interface ModelEvent {
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
}

/** All categories share a sequence of events, and each pet has its own. */
type Subject = bigint | 'categories'

/** The expected events of each pet and of the categories, in order. Compared events are removed. */
export class ModelEvents {
  #bySubject = new Map<Subject, ModelEvent[]>()
  crossings = 0

  tell(subject: Subject, kind: string, data: ModelEvent['data'], by: ChangedBy): void {
    const events = this.#bySubject.get(subject) ?? []
    this.#bySubject.set(subject, events)
    events.push({ kind, data: { ...data, at: new Date(by.at).toISOString(), keyId: by.id } })
    if (kind === 'low' || kind === 'recovered') this.crossings++
  }

  get count(): number {
    return this.#bySubject.values().reduce((sum, { length }) => sum + length, 0)
  }

  /** The differences to all events since the last call. */
  compare(told: readonly ModelEvent[]): string[] {
    const toldBySubject = Map.groupBy(told, subjectOf)
    const subjects = new Set([...toldBySubject.keys(), ...this.#bySubject.keys()])
    const wrong = Array.from(subjects).flatMap((subject) => {
      const [got, wanted] = [toldBySubject.get(subject) ?? [], this.#bySubject.get(subject) ?? []].map(
        comparable,
      )
      return Bun.deepEquals(got, wanted)
        ? []
        : [`the events of ${subject} are ${Bun.inspect(got)}, expected ${Bun.inspect(wanted)}`]
    })
    this.#bySubject = new Map()
    return wrong
  }
}

function subjectOf({ kind, data }: ModelEvent): Subject {
  if (kind === 'category') return 'categories'
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
  for (const event of events.map(withoutUnknowns)) {
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

/** The model does not know the ids of adjustments, nor the reserved units between the events of a commit. */
function withoutUnknowns({ kind, data }: ModelEvent): ModelEvent {
  if (kind !== 'change' && kind !== 'order') return { kind, data }
  const { adjustmentId: _, occurredAt: __, reserved: ___, available: ____, ...known } = data
  return { kind, data: known }
}

function isEndOfHold({ kind, data }: ModelEvent): boolean {
  return data.keyId === SYSTEM_KEY_ID && (kind === 'order' || kind === 'recovered')
}

function rankOf({ data }: ModelEvent): number {
  const { order } = data as { readonly order?: { readonly id: bigint } }
  return order === undefined ? Number.POSITIVE_INFINITY : Number(order.id)
}
