import { EventReader, type ReceivedEvent } from '../../support/event-reader.ts'
import type { ModelEvent } from './events.ts'
import { exactJson } from './judge.ts'
import { type ModelRun, PLAINLY } from './run.ts'

/** A busy machine takes longer than the expected tenths of a second. */
const PATIENCE_MS = 60_000

/** Follows the stock like a caller that comes back from time to time, at one instance or another, across restarts. */
export class ModelStream {
  #cursor: string

  static async begin(run: ModelRun): Promise<ModelStream> {
    const reader = await open(run, 0)
    await reader.until(() => reader.events.length > 0, PATIENCE_MS)
    reader.close()
    return new ModelStream(reader.lastId ?? '')
  }

  private constructor(cursor: string) {
    this.#cursor = cursor
  }

  /** Compares all events since the last time with the model. */
  async compare(run: ModelRun, instance: number): Promise<void> {
    await run.endHolds()
    const { events } = run.world
    const { count } = events
    if (count === 0) return
    const reader = await open(run, instance, { 'Last-Event-ID': this.#cursor })
    const late = await reader.until(() => reader.events.length >= count, PATIENCE_MS).catch(String)
    reader.close()
    this.#cursor = reader.lastId ?? this.#cursor
    run.counts.events += reader.events.length
    const wrong = events.compare(reader.events.map(toModel))
    if (late !== undefined) wrong.push(late)
    if (wrong.length > 0) throw new Error(wrong.join('; '))
  }

  /** Makes a last change, after which nothing may come: an extra event would appear before it. */
  async finish(run: ModelRun): Promise<void> {
    const nothing = { status: undefined, barcode: undefined, lowStockAt: undefined, quantity: undefined }
    const last = { kind: 'new-pet', body: Number.NaN, pet: undefined, name: 'Last', categoryId: 1n } as const
    const sender = { kind: 'key', key: 0, secret: 0 } as const
    await run.send({ kind: 'request', sender, ...PLAINLY, call: { ...last, ...nothing } })
    await this.compare(run, 0)
  }
}

/** With the first key, which has no limit; at the first instance if the other one does not know it yet. */
async function open(
  { shop, world, store }: ModelRun,
  instance: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const key = world.keys[0]
  const secret = key?.secrets[0]
  if (key === undefined || secret === undefined) throw new Error('there are no keys')
  const at = store === 'postgres' && world.looksUp(instance, secret) ? instance : 0
  key.meter.ask(world.now)
  return EventReader.open(`${shop.address(at)}/v1/inventory/events`, secret.text, headers)
}

function toModel({ name, data }: ReceivedEvent): ModelEvent {
  return { kind: name, data: exactJson(data) as ModelEvent['data'] }
}
