import type { Listing } from './log-check.ts'
import type { Operation } from './register-check.ts'

/** A running service, as a caller sees it. */
export interface Instance {
  readonly address: string
}

export interface WorkloadOptions {
  readonly key: string
  readonly petIds: readonly number[]
  readonly workers: number
  /** The next unused value: each is written once. */
  readonly nextValue: () => number
  readonly isOver: (requests: number) => boolean
  /** From 0 up to 1; decides what is sent. */
  readonly random?: () => number
}

export interface Recorded {
  readonly operations: readonly Operation[]
  readonly listings: readonly Listing[]
  readonly requests: number
  /** The number of requests by status; 0 for those without a response. */
  readonly statuses: ReadonlyMap<number, number>
  readonly longestMs: number
}

interface WireItem {
  readonly petId: number
  readonly quantity: number
}

/** Sends updates, lists and single reads to all instances at once, and records each response and its time. */
export async function record(instances: readonly Instance[], options: WorkloadOptions): Promise<Recorded> {
  const { random = Math.random } = options
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const operations: Operation[] = []
  const listings: Listing[] = []
  const statuses = new Map<number, number>()
  let requests = 0
  let longestMs = 0

  async function send(path: string, body?: string): Promise<{ status: number; json: () => unknown }> {
    const { address } = pick(instances)
    const began = performance.now()
    try {
      const response = await fetch(`${address}/v1${path}`, {
        headers: { Authorization: `Bearer ${options.key}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { method: 'PATCH', body }),
      })
      const text = await response.text()
      return { status: response.status, json: () => JSON.parse(text) }
    } catch {
      return { status: 0, json: () => null }
    } finally {
      longestMs = Math.max(longestMs, performance.now() - began)
    }
  }

  async function step(): Promise<void> {
    const choice = random()
    const petId = pick(options.petIds)
    const value = options.nextValue()
    const began = performance.now()
    const answer =
      choice < 0.5
        ? await send(`/inventory/${petId}`, JSON.stringify({ quantity: value }))
        : await send(choice < 0.75 ? '/inventory' : `/inventory/${petId}`)
    const ended = performance.now()
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (choice < 0.5) {
      operations.push({ kind: 'write', petId, value, began, ended, isUnsure: answer.status !== 200 })
    } else if (answer.status === 200) {
      const items = (choice < 0.75 ? answer.json() : [answer.json()]) as WireItem[]
      if (choice < 0.75) {
        listings.push({ quantities: new Map(items.map(({ petId: id, quantity }) => [id, quantity])) })
      }
      for (const item of items) {
        operations.push({ kind: 'read', petId: item.petId, value: item.quantity, began, ended })
      }
    } else {
      // A short pause, as a real caller would make, instead of a busy loop.
      await Bun.sleep(10)
    }
  }

  const worker = async () => {
    while (!options.isOver(requests)) {
      requests++
      await step()
    }
  }
  await Promise.all(Array.from({ length: options.workers }, worker))
  return { operations, listings, requests, statuses, longestMs }
}
