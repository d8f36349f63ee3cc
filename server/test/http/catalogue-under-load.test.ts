import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { petIdOf as eventPetId, type StockEvent } from '../../src/core/stock/stock-event.ts'
import { eventsAfter } from '../support/oversell-check.ts'
import { type Answer, TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

const CONNECTIONS = 64
/** Each worker owns one of the first pets and raises its quantity. */
const WRITERS = 24
const LIVES = 30
/** Pets that are created, ordered, renamed and removed have ids from here on. */
const FIRST_ID = 1_000

let service: TestService
beforeAll(async () => {
  service = await TestService.start({
    pets: Array.from({ length: WRITERS }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Pet ${index + 1}`,
      categoryId: 1n,
      status: 'available',
      quantity: 0,
    })),
  })
})
afterAll(() => service.stop())

/** The certain facts about a pet: numbers of acknowledged and of sent requests. */
interface Known {
  /** A pet that is `there` is in every list that begins from then on, until its removal is requested. */
  state: 'absent' | 'appearing' | 'there' | 'vanishing'
  acknowledged: number
  sent: number
}
type Lookup = (id: number) => Promise<{ readonly name: string; readonly quantity?: number } | undefined>

const sent = (method: string, path: string, body?: unknown): Promise<Answer> =>
  service.call(method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json' },
  })

/** Every way to find a pet. Each must find it once it is acknowledged, and not after its removal. */
const LOOKUPS: readonly Lookup[] = [
  async (id) => {
    const answer = await sent('GET', `/pets/${id}`)
    return answer.status === 404 ? undefined : (answer.json as { name: string })
  },
  async (id) => oneOf(await searched(`${id}`)),
  async (id) => oneOf(await searched(`code-${id}`)),
  // It has its first or its second name, never both.
  async (id) => oneOf([...(await searched(`born ${id}`)), ...(await searched(`named ${id}`))]),
]

const searched = async (q: string) =>
  (await sent('GET', `/inventory/search?q=${encodeURIComponent(q)}`)).json as readonly {
    readonly name: string
  }[]

function oneOf<Row>(rows: readonly Row[]): Row | undefined {
  if (rows.length > 1) throw new Error(`one pet was found ${rows.length} times`)
  return rows[0]
}

test('pets are created, ordered, renamed and removed while 64 connections list and update: no response contradicts the log', async () => {
  const begin = await service.store.latestEventCursor()
  const known = new Map<number, Known>()
  for (let id = 1; id <= WRITERS; id++) known.set(id, { state: 'there', acknowledged: 0, sent: 0 })
  const wrong: string[] = []
  let isOver = false

  async function list(): Promise<void> {
    const before = new Map(Array.from(known, ([id, one]) => [id, { ...one }]))
    const { items } = await sent('GET', '/inventory')
    const shown = new Map(items.map(({ petId, quantity }) => [Number(petId), Number(quantity)]))
    for (const [id, one] of known) {
      const was = before.get(id) ?? { state: 'absent', acknowledged: 0, sent: 0 }
      const quantity = shown.get(id)
      const mustBe = was.state === 'there' && one.state === 'there'
      const mayNotBe = was.state === 'absent' && one.state === 'absent'
      if (mustBe && quantity === undefined) wrong.push(`pet ${id} is missing`)
      if (mayNotBe && quantity !== undefined) wrong.push(`pet ${id} is there`)
      const isInTime = quantity === undefined || (quantity >= was.acknowledged && quantity <= one.sent)
      if (id < FIRST_ID && !isInTime)
        wrong.push(`pet ${id} has ${quantity}, between ${was.acknowledged} and ${one.sent}`)
    }
  }
  async function write(id: number): Promise<void> {
    const one = known.get(id)
    if (one === undefined) throw new Error(`pet ${id} is nobody's`)
    one.sent++
    const answer = await service.setQuantity(BigInt(id), `{"quantity": ${one.sent}}`)
    if (answer.status !== 200 || Number(answer.item.quantity) !== one.sent)
      wrong.push(`pet ${id}: ${answer.text}`)
    one.acknowledged = one.sent
  }
  async function expectFound(id: number, name: string | undefined): Promise<void> {
    for (const lookup of LOOKUPS) {
      const found = (await lookup(id))?.name
      if (found !== name) wrong.push(`pet ${id} is called ${found}, and was answered to be ${name}`)
    }
  }
  async function live(id: number): Promise<void> {
    const one: Known = { state: 'appearing', acknowledged: 0, sent: 0 }
    known.set(id, one)
    const status = async (...request: Parameters<typeof sent>) => {
      const answer = await sent(...request)
      return [answer.status, (answer.json as { id?: number } | undefined)?.id] as const
    }
    const pet = { id, name: `Born ${id}`, categoryId: 1, quantity: 3, barcode: `code-${id}`, lowStockAt: 1 }
    const steps = [await status('POST', '/pets', pet)]
    one.state = 'there'
    await expectFound(id, pet.name)
    await list()
    const [made, order] = await status('POST', '/store/orders', { petId: id, quantity: 2 })
    steps.push([made, undefined], await status('PATCH', `/pets/${id}`, { name: `Named ${id}` }))
    await expectFound(id, `Named ${id}`)
    const refused = await sent('DELETE', `/pets/${id}`)
    steps.push(
      [refused.status, undefined],
      await status('PATCH', `/store/orders/${order}`, { complete: true }),
    )
    one.state = 'vanishing'
    const removed = await sent('DELETE', `/pets/${id}`)
    one.state = 'absent'
    await expectFound(id, undefined)
    await list()
    const statuses = [...steps.map(([step]) => step), removed.status]
    if (statuses.join() !== '201,201,200,409,200,204') wrong.push(`pet ${id} was answered ${statuses}`)
  }

  const work = Array.from({ length: CONNECTIONS - 1 }, async (_, index) => {
    while (!isOver) await (index < WRITERS ? write(index + 1) : list())
  })
  for (let number = 0; number < LIVES; number += 3) {
    await Promise.all([0, 1, 2].map((more) => live(FIRST_ID + number + more)))
  }
  isOver = true
  await Promise.all(work)
  expect(wrong.slice(0, 10)).toEqual([])

  const events = Map.groupBy(await eventsAfter(service.store, begin), petIdOf)
  for (let id = 1; id <= WRITERS; id++) {
    const steps = (events.get(id) ?? []).map(
      (event) => event.kind === 'change' && [event.before, event.after],
    )
    expect(steps).toEqual(Array.from({ length: known.get(id)?.sent ?? 0 }, (_, index) => [index, index + 1]))
  }
  for (let number = 0; number < LIVES; number++) {
    expect((events.get(FIRST_ID + number) ?? []).map(told)).toEqual([
      ...['created', 'order created', 'low', 'changed', 'change 1', 'order completed', 'removed'],
    ])
  }
})

function petIdOf(event: StockEvent): number {
  const petId = eventPetId(event)
  if (petId === undefined) throw new Error(`a ${event.kind} event is about no pet`)
  return Number(petId)
}

function told(event: StockEvent): string {
  if (event.kind === 'pet') return event.change
  if (event.kind === 'order') return `order ${event.change}`
  return event.kind === 'change' ? `change ${event.after}` : event.kind
}
