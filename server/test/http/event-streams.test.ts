import { afterEach, expect, jest, test } from 'bun:test'
import type { BodyOutput, LiveBody } from '@petstore/wire'
import type { ApiKey } from '../../src/core/keys/api-key.ts'
import { KeyRing } from '../../src/core/keys/key-ring.ts'
import { EventHub } from '../../src/core/stock/event-hub.ts'
import { EventStreams } from '../../src/http/event-streams.ts'
import { BusyLog } from '../core/event-logs.ts'
import { until } from '../support/until.ts'

const REQUEST = { keyId: 'key_a', plan: 'pro', after: undefined, filter: {}, secretHash: 'hash' } as const

afterEach(() => void jest.useRealTimers())

interface Parts {
  readonly findKey?: () => Promise<ApiKey | undefined>
  readonly clock?: () => number
  readonly heartbeatMs?: number
}

async function openStreams({
  findKey = () => new Promise<never>(() => {}),
  clock = () => 0,
  heartbeatMs = 3_600_000,
}: Parts) {
  const log = new BusyLog()
  const hub = new EventHub(log, () => {})
  const listSecretHashes = async () => ({ hashes: [], position: 0n })
  const keyRing = await KeyRing.open({ listSecretHashes, findKey }, clock)
  return { log, hub, streams: new EventStreams({ hub, keyRing, clock, heartbeatMs }) }
}

/** A socket; once it is full, nothing that is sent arrives. */
class Output implements BodyOutput {
  unsentBytes = 0
  isFull = false
  readonly sent: ('heartbeat' | 'events' | 'abort')[] = []
  readonly #stream: LiveBody

  constructor(body: unknown) {
    this.#stream = body as LiveBody
    this.#stream.begin(this)
  }

  send(bytes: Uint8Array): void {
    this.sent.push(bytes[0] === ':'.charCodeAt(0) ? 'heartbeat' : 'events')
    if (this.isFull) this.unsentBytes += bytes.length
  }

  drain(): void {
    this.unsentBytes = 0
    this.#stream.onBytesSent()
  }

  end(): void {}

  abort(): void {
    this.sent.push('abort')
    this.#stream.onClose()
  }
}

test('a check of the keys starts only after the previous check has ended', async () => {
  jest.useFakeTimers()
  let now = 0
  const lookups: PromiseWithResolvers<undefined>[] = []
  const findKey = () => {
    const lookup = Promise.withResolvers<undefined>()
    lookups.push(lookup)
    return lookup.promise
  }
  const { streams } = await openStreams({ findKey, clock: () => now })
  for (const secretHash of ['first', 'second']) await streams.open({ ...REQUEST, secretHash })

  const passSeconds = async (seconds: number) => {
    for (let passed = 0; passed < seconds * 10; passed++) {
      now += 100
      jest.advanceTimersByTime(100)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    }
  }
  await passSeconds(5)
  expect(lookups).toHaveLength(1)
  lookups[0]?.reject(new Error('the database is unavailable'))
  await passSeconds(5)
  expect(lookups).toHaveLength(2)
  for (const { resolve } of lookups) resolve(undefined)
  streams.close()
})

test('a key of the plan Enterprise may have 200 open streams', async () => {
  const { streams } = await openStreams({})
  const statuses = new Map<number, number>()
  for (let opened = 0; opened < 201; opened++) {
    const { status } = await streams.open({ ...REQUEST, plan: 'enterprise' })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  expect(Object.fromEntries(statuses)).toEqual({ 200: 200, 429: 1 })
  streams.close()
})

test('a heartbeat disconnects a reader that has received nothing since the last one, and no other', async () => {
  jest.useFakeTimers()
  const heartbeatMs = 1_000
  const passMs = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 10) {
      jest.advanceTimersByTime(10)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const { log, hub, streams } = await openStreams({ heartbeatMs })
  const [stuck, other] = [
    new Output((await streams.open(REQUEST)).body),
    new Output((await streams.open(REQUEST)).body),
  ]
  stuck.isFull = true
  log.happen(1)
  hub.wake()
  // Bytes that begin to wait are no reason: the reader had received everything before them.
  await passMs(heartbeatMs)
  expect(stuck.sent.slice(1)).toEqual(['events', 'heartbeat'])
  await passMs(heartbeatMs)
  expect(stuck.sent.slice(1)).toEqual(['events', 'heartbeat', 'abort'])
  expect(other.sent.slice(1)).toEqual(['events', 'heartbeat', 'heartbeat'])
  streams.close()
})

test('a reader that catches up is not disconnected because one block of events is large, and gets the rest at its pace', async () => {
  const { log, hub, streams } = await openStreams({})
  log.happen(5_000)
  const output = new Output((await streams.open({ ...REQUEST, after: '0.a' })).body)
  output.isFull = true
  // More than a reader may have unsent before it gets more.
  await until(() => output.unsentBytes > 64 * 1_024)
  expect(output.sent).not.toContain('abort')
  const other = new Output((await streams.open(REQUEST)).body)
  const [sentBefore, sentToOther] = [output.sent.length, other.sent.length]
  log.happen(1)
  hub.wake()
  await until(() => other.sent.length > sentToOther)
  expect(output.sent).toHaveLength(sentBefore)
  output.drain()
  await until(() => output.sent.length > sentBefore)
  streams.close()
})
