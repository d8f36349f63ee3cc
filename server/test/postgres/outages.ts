import { openStore } from '../../src/store/open-store.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { recordBoth, violationsOf } from './both-loads.ts'
import type { KeyedLoad } from './keyed-load.ts'
import type { Operation } from './register-check.ts'
import { PET_IDS, startInstances, stockUp } from './shop.ts'
import { record } from './workload.ts'

export interface OutageReport {
  readonly requests: number
  /** Every status that was answered with; 0 stands for no answer at all. */
  readonly statuses: readonly number[]
  readonly contradictions: readonly string[]
  /** What was sent with keys, and repeated until it was answered. */
  readonly keyed: KeyedLoad
  /** From the moment that PostgreSQL took connections again to the first update that was acknowledged. */
  readonly recoveriesMs: readonly number[]
  /** How long a request took at most while PostgreSQL was away. */
  readonly longestRefusalMs: number
  readonly unreadyStatuses: readonly number[]
}

const AWAY_MS = 400
const BETWEEN_MS = 400

/** Stops PostgreSQL as if it had crashed and starts it again, so many times, while two instances are under load. */
export async function runOutages(server: PostgresServer, times: number): Promise<OutageReport> {
  const url = server.url()
  const key = await stockUp(url)
  const instances = await startInstances(url, 2)
  let isOver = false
  let value = 0
  const nextValue = () => ++value
  const parts = { key, petIds: PET_IDS, nextValue }
  const load = recordBoth(instances, { ...parts, workers: 8, keyedCallers: 4, isOver: () => isOver })

  const recoveriesMs: number[] = []
  const unreadyStatuses: number[] = []
  let longestRefusalMs = 0
  const own: Operation[] = []
  /** One update, recorded like those of the load. */
  const update = async (address: string): Promise<number> => {
    const began = performance.now()
    const mine = nextValue()
    const { status } = await fetch(`${address}/v1/inventory/1`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ quantity: mine }),
    })
    const ended = performance.now()
    own.push({ kind: 'write', petId: 1, value: mine, began, ended, isUnsure: status !== 200 })
    return status
  }
  for (let round = 0; round < times; round++) {
    await Bun.sleep(BETWEEN_MS)
    await server.stopAtOnce()
    await Bun.sleep(AWAY_MS / 2)
    for (const { address } of instances) {
      const began = performance.now()
      await update(address)
      longestRefusalMs = Math.max(longestRefusalMs, performance.now() - began)
      unreadyStatuses.push((await fetch(`${address}/readyz`)).status)
    }
    await Bun.sleep(AWAY_MS / 2)
    await server.startAgain()
    const backAt = performance.now()
    for (const { address } of instances) while ((await update(address)) !== 200) await Bun.sleep(5)
    recoveriesMs.push(performance.now() - backAt)
  }
  await Bun.sleep(BETWEEN_MS)
  isOver = true
  const { recorded, keyed } = await load
  // A look at the end, so that an update that was lost cannot go unseen.
  const last = await record(instances, { ...parts, workers: 2, isOver: (count) => count >= 40 })
  for (const instance of instances) await instance.stop()
  const store = await openStore(url, { tables: 'make' })
  const found = await violationsOf({ recorded, keyed }, store, new Map(PET_IDS.map((petId) => [petId, 0])), [
    ...own,
    ...last.operations,
  ])
  await store.close()
  return {
    requests: recorded.requests,
    statuses: [...recorded.statuses.keys()].toSorted((a, b) => a - b),
    contradictions: found,
    keyed,
    recoveriesMs,
    longestRefusalMs,
    unreadyStatuses,
  }
}
