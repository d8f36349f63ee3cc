import type { PostgresServer } from '../support/postgres-server.ts'
import { Load } from './load.ts'
import { PET_IDS, startInstances, stockUp } from './shop.ts'

/** Repeated faults of the database. */
export interface Outage {
  readonly url: string
  /** Stops the database during the load. */
  crash(round: number): Promise<void>
  /** The reason that /readyz must report. */
  unreadyReason?(round: number): string
  /** Resolves when it accepts updates again. */
  comeBack(): Promise<void>
  /** Runs before the next outage. */
  settle?(): Promise<void>
  /**
   * Starts a check that runs alongside the load; the returned function waits for its end and returns the
   * violations.
   */
  watch?(scene: OutageScene): Promise<() => Promise<string[]>>
}

export interface OutageScene {
  readonly instances: readonly { readonly address: string }[]
  /** Sends an update that is recorded like those of the load, and returns its status. */
  readonly update: (address: string, key?: string) => Promise<number>
  readonly isOver: () => boolean
}

/** The server stops as in a crash, and is started again. */
export function crashesOf(server: PostgresServer): Outage {
  return {
    url: server.url(),
    crash: () => server.stopAtOnce(),
    comeBack: () => server.startAgain(),
  }
}

export interface OutageReport {
  /** Updates and reads. */
  readonly requests: number
  /** All statuses of responses; 0 stands for no response. */
  readonly statuses: readonly number[]
  readonly contradictions: readonly string[]
  /** The changes of requests with an Idempotency-Key, repeated until they are answered. */
  readonly keyedChanges: number
  /** The time from PostgreSQL accepting updates until the last instance acknowledged its first update. */
  readonly recoveriesMs: readonly number[]
  /** The time between the first and the last instance. */
  readonly apartMs: readonly number[]
  /** The longest request while PostgreSQL was unavailable. */
  readonly longestRefusalMs: number
  readonly unreadyStatuses: readonly number[]
  /** The messages of /readyz meanwhile. */
  readonly reasons: readonly string[]
}

const AWAY_MS = 400
const BETWEEN_MS = 400
/** By then /readyz must report the problem. */
const TOLD_MS = 60_000
/** The load continues until it has sent this many requests, even on a slow machine. */
const LEAST_REQUESTS = 100
const LEAST_KEYED_CHANGES = 100

/** Runs several outages while two instances are under load. */
export async function runOutages(
  outage: Outage,
  times: number,
  say: (progress: string) => void = () => {},
): Promise<OutageReport> {
  const { url } = outage
  const key = await stockUp(url)
  const instances = await startInstances(url, 2)
  let isOver = false
  let requests = 0
  const load = new Load({ key, petIds: PET_IDS, addresses: instances.map(({ address }) => address) })
  const plain = load.sendPlain(8, (sent) => {
    requests = sent
    return isOver && sent >= LEAST_REQUESTS
  })
  const keyed = load.sendKeyed(4, () => isOver && load.counts.made >= LEAST_KEYED_CHANGES)

  const recoveriesMs: number[] = []
  const apartMs: number[] = []
  const unreadyStatuses: number[] = []
  const reasons: string[] = []
  let longestRefusalMs = 0
  const update = async (address: string, withKey = key) => (await load.update(address, withKey)).status
  const watching = await outage.watch?.({ instances, update, isOver: () => isOver })
  for (let round = 0; round < times; round++) {
    await Bun.sleep(BETWEEN_MS)
    await outage.crash(round)
    await Bun.sleep(AWAY_MS / 2)
    for (const { address } of instances) {
      const began = performance.now()
      await update(address)
      longestRefusalMs = Math.max(longestRefusalMs, performance.now() - began)
      const { status, text } = await readiness(address, outage.unreadyReason?.(round) ?? '')
      unreadyStatuses.push(status)
      reasons.push(text)
    }
    await Bun.sleep(AWAY_MS / 2)
    await outage.comeBack()
    const backAt = performance.now()
    const each = await Promise.all(
      instances.map(async ({ address }) => {
        while ((await update(address)) !== 200) await Bun.sleep(5)
        return performance.now() - backAt
      }),
    )
    recoveriesMs.push(Math.max(...each))
    apartMs.push(Math.max(...each) - Math.min(...each))
    const refusal = Math.round(longestRefusalMs)
    say(`${round + 1} outages, back after ${each.map(Math.round).join(' and ')} ms, refused in ${refusal} ms`)
    await outage.settle?.()
  }
  await Bun.sleep(BETWEEN_MS)
  isOver = true
  const statuses = await plain
  await keyed
  await load.settle()
  const watched = (await watching?.()) ?? []
  // Reads at the end, so that a lost update cannot go unnoticed.
  await load.sendPlain(2, (sent) => sent >= 40)
  for (const instance of instances) await instance.stop()
  return {
    requests,
    statuses,
    contradictions: [...(await load.violations(url)), ...watched],
    keyedChanges: load.counts.made,
    recoveriesMs,
    apartMs,
    longestRefusalMs,
    unreadyStatuses,
    reasons,
  }
}

/** The response of /readyz once it names the reason, or the last one if it does not. */
async function readiness(address: string, reason: string): Promise<{ status: number; text: string }> {
  const deadline = performance.now() + TOLD_MS
  for (;;) {
    const response = await fetch(`${address}/readyz`)
    const text = await response.text()
    if (text.includes(reason) || performance.now() > deadline) return { status: response.status, text }
    await Bun.sleep(10)
  }
}
