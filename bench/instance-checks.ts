import { WrongAnswer } from './checks.ts'
import type { InstanceGroup } from './instance-group.ts'
import { INSTANCE_PETS } from './instance-rows.ts'

/** The last pets are for those who look at every answer; the load changes all others. */
const WITNESSED_PETS = 100
/** The one before them is for orders of one pet alone. */
export const ORDERED_PET = INSTANCE_PETS - WITNESSED_PETS
export const LAST_LOADED_PET = ORDERED_PET - 1
const WITNESSES = 2
const BETWEEN_UPDATES_MS = 20
/** wrk leaves without waiting for its last answers: what it sent may still be on its way to the disk. */
const STANDS_STILL_WITHIN_MS = 10_000

/** Callers beside the load, too few to weigh, of whose pets it is known what was acknowledged last. */
export class Witnesses {
  readonly #group: InstanceGroup
  readonly #acknowledged = new Map<number, number>()
  readonly #watching: Promise<unknown>
  #isOver = false

  constructor(group: InstanceGroup) {
    this.#group = group
    this.#watching = Promise.all(Array.from({ length: WITNESSES }, (_, number) => this.#watch(number)))
    // What is wrong is told by `end`, and must not end the run before.
    this.#watching.catch(() => {})
  }

  /** The quantity that each pet of theirs has to have now. */
  async end(): Promise<ReadonlyMap<number, number>> {
    this.#isOver = true
    await this.#watching
    return this.#acknowledged
  }

  /** Each has pets of its own, one change at a time, and asks another instance each time. */
  async #watch(number: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const petId = ORDERED_PET + 1 + ((turn * WITNESSES + number) % WITNESSED_PETS)
      const quantity = 1000 + ((turn * 7919) % 9000)
      await this.#update(petId, quantity, turn)
      this.#acknowledged.set(petId, quantity)
      await Bun.sleep(BETWEEN_UPDATES_MS)
    }
  }

  async #update(petId: number, quantity: number, turn: number): Promise<void> {
    const { target, secrets, urls } = this.#group
    const response = await fetch(`${urls[turn % urls.length]}${target.listPath}/${petId}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${secrets.unlimited}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ quantity }),
      keepalive: false,
    })
    const body = await response.text()
    if (response.status === 200 && body.startsWith(`{"petId":${petId},"quantity":${quantity},`)) return
    throw new WrongAnswer(
      `${target.name} answers an update of pet ${petId} to ${quantity} with ${response.status} ${body}`,
    )
  }
}

/** Every instance lists just what the database holds, and that is what was acknowledged last. */
export async function checkStock(
  group: InstanceGroup,
  acknowledged: ReadonlyMap<number, number>,
): Promise<void> {
  await using sql = new Bun.SQL(group.database, { max: 1 })
  const deadline = performance.now() + STANDS_STILL_WITHIN_MS
  for (;;) {
    const wrong = await findWrong(group, sql, acknowledged)
    if (wrong === undefined) return
    if (performance.now() > deadline) throw new WrongAnswer(`${group.target.name}: ${wrong}`)
    await Bun.sleep(50)
  }
}

async function findWrong(
  { target, urls, secrets }: InstanceGroup,
  sql: Bun.SQL,
  acknowledged: ReadonlyMap<number, number>,
): Promise<string | undefined> {
  const rows: { pet_id: number; quantity: number; status: string }[] = await sql`
    SELECT pet_id::integer, quantity::integer, status FROM ${sql(target.stockTable)} ORDER BY pet_id`
  if (rows.length !== INSTANCE_PETS) return `the database has ${rows.length} pets, not ${INSTANCE_PETS}`
  const lost = rows.find(
    ({ pet_id, quantity }) => acknowledged.has(pet_id) && acknowledged.get(pet_id) !== quantity,
  )
  if (lost !== undefined) {
    return `pet ${lost.pet_id} has ${lost.quantity} in the database; acknowledged was ${acknowledged.get(lost.pet_id)}`
  }
  const [orders] = await sql`
    SELECT (SELECT sum(quantity) FROM orders)::bigint AS ordered, (SELECT sum(reserved) FROM ${sql(target.stockTable)})::bigint AS reserved,
      (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) AS deadlocks`
  if (orders.ordered !== null && orders.ordered !== orders.reserved) {
    return `orders of ${orders.ordered} are open, and ${orders.reserved} are reserved`
  }
  if (orders.deadlocks !== '0') return `PostgreSQL ended ${orders.deadlocks} deadlocks`
  const stored = JSON.stringify(
    rows.map(({ pet_id, quantity, status }) => ({ petId: pet_id, quantity, status })),
  )
  const lists = await Promise.all(
    urls.map(async (url) => {
      const headers = { Authorization: `Bearer ${secrets.unlimited}`, 'Accept-Encoding': 'identity' }
      return (await fetch(url + target.listPath, { headers, keepalive: false })).text()
    }),
  )
  const other = lists.findIndex((list) => list !== stored)
  return other === -1
    ? undefined
    : `instance ${other + 1} of ${urls.length} lists other stock than the database holds`
}
