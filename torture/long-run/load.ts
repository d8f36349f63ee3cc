/**
 * The load generator of a long run, in its own process: it gets its rate over its channel, and reports on
 * request.
 */
import { randomFrom } from '../../server/scripts/torture-task.ts'
import { KINDS, type KindName, type LoadTarget, RequestMaker } from './requests.ts'
import { WireConnection } from './wire.ts'

/** `rate` in requests a second; without one, as fast as responses arrive. */
export type LoadOrder =
  | { readonly kind: 'begin'; readonly target: LoadTarget; readonly seed: number }
  | { readonly kind: 'pace'; readonly rate?: number }
  | { readonly kind: 'tell' }
  | { readonly kind: 'end' }

/** Since the last report. */
export interface LoadReport {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly streams: number
  readonly slowReads: number
  /** Unexpected responses, by description. */
  readonly surprises: Readonly<Record<string, number>>
  /** The share of one core that this process used. */
  readonly cpu: number
}

const CONNECTIONS = 32
const STREAMS = 4
const SLOW_READERS = 2
/** More than the socket buffers hold, so that the service must wait for the reader. */
const LISTS_OF_SLOW_READER = 60
const TICK_MS = 5
const STREAM_LASTS_MS = 3_000
const SLOW_PAUSE_MS = 2_000

let maker: RequestMaker
let port = 0
let rate: number | undefined = 0
let isEnded = false
const idle: Caller[] = []
const surprises = new Map<string, number>()
let latencies: number[] = []
let requests = 0
let streams = 0
let slowReads = 0
let askedAt = performance.now()
let cpuAt = process.cpuUsage()
let owed = 0

/** One connection of the mixed load, with one request at a time. */
class Caller {
  #connection: WireConnection | undefined
  #kind: KindName = 'read'

  async open(): Promise<void> {
    this.#connection = await WireConnection.open(
      port,
      ({ status, tag, ms }) => this.#finish(status, tag, ms),
      () => this.#lost(),
    )
    idle.push(this)
  }

  sendNext(): void {
    const { kind, request } = maker.next()
    this.#kind = kind
    this.#connection?.send(request)
  }

  #finish(status: number, tag: string | undefined, ms: number): void {
    const allowed: readonly number[] = KINDS[this.#kind].statuses
    if (!allowed.includes(status)) surprise(`${this.#kind} answered ${status}`)
    if (this.#kind === 'list' && tag !== undefined) maker.listTag = tag
    requests++
    latencies.push(ms)
    if (rate === undefined) this.sendNext()
    else idle.push(this)
  }

  #lost(): void {
    if (isEnded) return
    surprise('a connection was lost')
    void this.open()
  }
}

function surprise(what: string): void {
  surprises.set(what, (surprises.get(what) ?? 0) + 1)
}

function sendWhatIsDue(): void {
  if (rate === undefined) {
    for (const caller of idle.splice(0)) caller.sendNext()
    return
  }
  // Requests that cannot be sent in time are not made up for later: the throughput shows it.
  owed = Math.min(owed + (rate * TICK_MS) / 1_000, (rate * 50) / 1_000)
  while (owed >= 1) {
    const caller = idle.shift()
    if (caller === undefined) return
    owed--
    caller.sendNext()
  }
}

/** Follows the events for a while, disconnects, and starts again. */
async function followEvents(): Promise<void> {
  while (!isEnded) {
    const stream = await WireConnection.open(port, ({ status }) => surprise(`events answered ${status}`))
    stream.send(maker.events())
    streams++
    await Bun.sleep(STREAM_LASTS_MS)
    stream.close()
  }
}

/** Requests many lists and reads slowly; every other time it disconnects halfway. */
async function readSlowly(): Promise<void> {
  for (let round = 0; !isEnded; round++) {
    const isOver = Promise.withResolvers<void>()
    let answers = 0
    const reader = await WireConnection.open(
      port,
      ({ status }) => {
        if (status !== 200) surprise(`a slow reader was answered ${status}`)
        if (++answers === LISTS_OF_SLOW_READER) isOver.resolve()
      },
      () => isOver.resolve(),
    )
    reader.pause()
    for (let sent = 0; sent < LISTS_OF_SLOW_READER; sent++) reader.send(maker.make('list'))
    await Bun.sleep(SLOW_PAUSE_MS)
    if (round % 2 === 0) {
      reader.resume()
      await Promise.race([isOver.promise, Bun.sleep(5 * SLOW_PAUSE_MS)])
    }
    reader.close()
    slowReads++
  }
}

async function begin(target: LoadTarget, seed: number): Promise<void> {
  port = target.port
  maker = new RequestMaker(target, randomFrom(seed))
  for (let opened = 0; opened < CONNECTIONS; opened++) await new Caller().open()
  setInterval(sendWhatIsDue, TICK_MS)
  for (let begun = 0; begun < STREAMS; begun++) void followEvents()
  for (let begun = 0; begun < SLOW_READERS; begun++) void readSlowly()
}

function report(): LoadReport {
  const sorted = Float64Array.from(latencies).sort()
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0
  const seconds = (performance.now() - askedAt) / 1_000
  const cpu = process.cpuUsage(cpuAt)
  const told = {
    requests,
    seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    streams,
    slowReads,
    surprises: Object.fromEntries(surprises),
    cpu: (cpu.user + cpu.system) / 1_000_000 / seconds,
  }
  latencies = []
  surprises.clear()
  requests = streams = slowReads = 0
  askedAt = performance.now()
  cpuAt = process.cpuUsage()
  return told
}

process.on('message', (order: LoadOrder) => {
  switch (order.kind) {
    case 'begin':
      void begin(order.target, order.seed).then(() => process.send?.('begun'))
      break
    case 'pace':
      rate = order.rate
      owed = 0
      break
    case 'tell':
      process.send?.(report())
      break
    case 'end':
      isEnded = true
      process.exit(0)
  }
})
// The parent process is gone.
process.on('disconnect', () => process.exit(0))
