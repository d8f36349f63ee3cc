import { ORDER_STATES } from '../../src/core/orders/order.ts'
import { fromCursor } from '../../src/core/stock/log-cursor.ts'
import { petIdOf, type StockEvent } from '../../src/core/stock/stock-event.ts'
import { webhookKindOf } from '../../src/core/webhooks/webhook.ts'
import { messageOf } from '../../src/delivery/message.ts'
import { eventBody } from '../../src/http/events.ts'
import { toJson } from '../../src/http/reply.ts'
import type { Store } from '../../src/store/store.ts'
import { eventsAfter } from '../support/oversell-check.ts'
import { Callers } from './callers.ts'
import { type Restart, violationsOf } from './checker.ts'
import { SimulatedDisk } from './disk.ts'
import { EventLog } from './event-log.ts'
import { Faults, LONGEST_CLOCK_STEP_MS } from './faults.ts'
import { type Fixture, RECEIVERS, START } from './fixture.ts'
import { LimitedCaller } from './limited-caller.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { Random } from './random.ts'
import { type Delivery, Receivers } from './receivers.ts'
import { StreamReader } from './stream-reader.ts'
import { VirtualTime } from './virtual-time.ts'

export interface SimulationReport {
  readonly violations: readonly string[]
  /** Everything that has happened, in order. */
  readonly log: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

const CRASHES = { kill: 35, 'power cut': 40, 'failed flush': 15, stop: 10 }
/** A failed flush ends the service. Then the power fails with this probability. */
const POWER_CUT_AFTER_FAILED_FLUSH_CHANCE = 0.5
/** How often a fault begins, per callback of the event loop. */
const FAULT_CHANCE = 0.004
const MAX_STEPS_PER_ROUND = 1_500
/** Short rounds end with a power cut: soon after a start, commits of the earlier run may not be flushed. */
const SHORT_ROUND_CHANCE = 0.3
const MAX_STEPS_OF_SHORT_ROUND = 60
const LONGEST_DOWN_MS = 200
const SETTLE_MS = 20_000

/** Returns another log than the store has. The answers contradict it. */
export type FalsifyLog = (events: readonly StockEvent[]) => readonly StockEvent[]

/** Runs the service through crashes and other faults. A seed determines everything that happens. */
export function simulate(
  fixture: Fixture,
  seed: number,
  crashes: number,
  falsify: FalsifyLog = (events) => events,
): SimulationReport {
  const world = new World(fixture, seed, falsify)
  const restore = world.time.install()
  try {
    return world.run(crashes)
  } finally {
    restore()
    world.disk.close()
  }
}

class World {
  readonly time: VirtualTime
  readonly disk: SimulatedDisk
  readonly #random: Random
  readonly #machine: Machine
  readonly #network: Network
  readonly #receivers: Receivers
  readonly #callers: Callers
  readonly #limitedCaller: LimitedCaller
  readonly #readers: readonly StreamReader[]
  readonly #faults: Faults
  readonly #fixture: Fixture
  readonly #falsify: FalsifyLog
  readonly #log: string[] = []
  readonly #violations: string[] = []
  readonly #restarts: Restart[] = []
  readonly #counts: Record<string, number> = {}
  #moments = 0
  #crashedAt = 0

  constructor(fixture: Fixture, seed: number, falsify: FalsifyLog) {
    const random = new Random(seed)
    const time = new VirtualTime(START, seed + 1)
    const nextMoment = () => ++this.#moments
    const note = (text: string) => this.#note(text)
    this.time = time
    this.disk = new SimulatedDisk(time, random, fixture.databaseFile)
    this.#fixture = fixture
    this.#falsify = falsify
    this.#random = random
    this.#receivers = new Receivers(time, random, ({ url, message }) => {
      note(`${url} accepts ${message.id}`)
    })
    this.#machine = new Machine({
      time,
      disk: this.disk,
      webhookSender: this.#receivers,
      onLogLine: (line) => {
        const { level, message, source = '' } = JSON.parse(line)
        note(`${level} ${message} ${source}`)
      },
    })
    this.#network = new Network(time, random, this.#machine)
    this.#faults = new Faults({
      time,
      random,
      disk: this.disk,
      network: this.#network,
      receivers: this.#receivers,
    })
    const shared = { time, random, network: this.#network, secret: fixture.secret, nextMoment }
    this.#callers = new Callers({ ...shared, note })
    this.#limitedCaller = new LimitedCaller({
      time,
      random,
      network: this.#network,
      secret: fixture.limitedSecret,
    })
    this.#readers = [1_000, 30].map(
      (connectedMs) => new StreamReader({ ...shared, after: fixture.firstCursor, connectedMs }),
    )
  }

  run(crashes: number): SimulationReport {
    this.#start()
    this.#callers.start()
    void this.#limitedCaller.run()
    for (const reader of this.#readers) void reader.run()
    for (let crash = 0; crash < crashes && this.#violations.length === 0; crash++) {
      const isShort = this.#random.chance(SHORT_ROUND_CHANCE)
      this.#runRound(isShort ? MAX_STEPS_OF_SHORT_ROUND : MAX_STEPS_PER_ROUND)
      this.#crash(isShort ? 'power cut' : this.#random.pickWeighted(CRASHES))
      this.#faults.endAll()
      this.time.runFor(this.#random.between(0, LONGEST_DOWN_MS))
      this.#start()
    }
    if (this.#violations.length === 0) this.#settle()
    return { violations: this.#violations, log: this.#log, counts: this.#counts }
  }

  #note(text: string): void {
    this.#log.push(`${this.time.now.toFixed(3)} ${text}`)
  }

  #count(what: string): void {
    this.#note(what)
    this.#counts[what] = (this.#counts[what] ?? 0) + 1
  }

  #await(what: string, work: Promise<unknown>): void {
    let isDone = false
    work.then(
      () => {
        isDone = true
      },
      (error: unknown) =>
        this.#violations.push(`${what} failed: ${error instanceof Error ? error.stack : error}`),
    )
    const isOver = () => isDone || this.#violations.length > 0
    if (!this.time.runUntil(isOver, SETTLE_MS))
      this.#violations.push(`${what} takes longer than ${SETTLE_MS} ms`)
  }

  #start(): void {
    const crashedAt = this.#crashedAt
    this.#await('the start', this.#machine.start())
    this.#note('started')
    const { store } = this.#machine
    if (store === undefined) return
    const reading = store.latestEventCursor().then((cursor) => {
      this.#restarts.push({ crashedAt, position: Number(fromCursor(cursor)?.position ?? 0n) })
    })
    this.#await('reading the end of the log', reading)
  }

  #runRound(maxSteps: number): void {
    const steps = this.#random.integer(1, maxSteps)
    for (let step = 0; step < steps && !this.#machine.isEnding; step++) {
      if (this.#random.chance(FAULT_CHANCE)) {
        const fault = this.#faults.begin()
        if (fault !== undefined) this.#count(fault)
      }
      this.time.step()
    }
  }

  #crash(how: keyof typeof CRASHES): void {
    this.#count(how)
    if (how === 'failed flush') {
      this.disk.failsNextFlush = true
      this.time.runUntil(() => this.#machine.isEnding, 5_000)
      this.time.runFor(this.#random.between(0, 50))
    }
    if (how === 'stop') {
      this.#faults.endAll()
      this.#await('the stop', this.#machine.stop())
    }
    const losesPower =
      how === 'power cut' ||
      (how === 'failed flush' && this.#random.chance(POWER_CUT_AFTER_FAILED_FLUSH_CHANCE))
    this.#machine.end({ losesPower })
    this.#crashedAt = ++this.#moments
  }

  /** Lets everything finish without faults, and checks what everybody has seen. */
  #settle(): void {
    this.#network.lossChance = 0
    this.#receivers.hasProblems = false
    this.#callers.isStopping = true
    this.time.runUntil(() => this.#faults.areOver, SETTLE_MS)
    if (!this.time.runUntil(() => this.#callers.isIdle, SETTLE_MS))
      this.#violations.push('a caller has no answer')
    this.#await('reading everything', this.#callers.readAll())
    const { store } = this.#machine
    if (store === undefined) return
    this.#awaitArrivals(this.#readLog(store))
    this.#check(this.#readLog(store), this.#readExpiries(store))
    this.#await(
      'looking for damage',
      store.findDamage().then((damage) => {
        this.#violations.push(...damage)
      }),
    )
  }

  #readLog(store: Store): readonly StockEvent[] {
    let events: readonly StockEvent[] = []
    const reading = eventsAfter(store, this.#fixture.firstCursor).then((all) => {
      events = all
    })
    this.#await('reading the log', reading)
    return events
  }

  /** The end of each hold, which no operation changes. */
  #readExpiries(store: Store): ReadonlyMap<number, number> {
    const expiries = new Map<number, number>()
    const readAll = async () => {
      for (const state of ORDER_STATES) {
        for (const { id, expiresAt } of await store.listOrders({ state }, 100_000)) {
          if (expiresAt !== undefined) expiries.set(Number(id), expiresAt)
        }
      }
    }
    this.#await('reading the orders', readAll())
    return expiries
  }

  /** Waits until every reader and receiver has these events. */
  #awaitArrivals(events: readonly StockEvent[]): void {
    const arrived = () => this.#readers.every((reader) => reader.events.length >= events.length)
    if (!this.time.runUntil(arrived, SETTLE_MS)) this.#violations.push('an event has not arrived in a stream')
    const missing = new Set(wantedDeliveries(events).map(({ url, message }) => `${url} ${message.id}`))
    const { accepted } = this.#receivers
    let index = 0
    const areDelivered = () => {
      for (; index < accepted.length; index++) {
        const delivery = accepted[index]
        missing.delete(`${delivery?.url} ${delivery?.message.id}`)
      }
      return missing.size === 0
    }
    if (this.time.runUntil(areDelivered, SETTLE_MS)) return
    // A retry that was planned while the clock was ahead is due when the clock shows that time again.
    this.time.stepWallClock(LONGEST_CLOCK_STEP_MS)
    if (this.time.runUntil(areDelivered, SETTLE_MS)) return
    this.#violations.push(`${missing.size} webhook events have not arrived, such as ${[...missing][0]}`)
  }

  #check(events: readonly StockEvent[], expiries: ReadonlyMap<number, number>): void {
    const indexes = new Map(events.map(({ cursor }, index) => [cursor, index]))
    const expected = events.map((event) => `${event.kind} ${event.cursor} ${toJson(eventBody(event))}`)
    for (const reader of this.#readers) {
      const received = reader.events.map(({ name, id, data }) => `${name} ${id} ${data}`)
      const wrong = received.findIndex((text, index) => text !== expected[index])
      if (wrong === -1) continue
      this.#violations.push(`a stream has sent ${received[wrong]} instead of ${expected[wrong]}`)
    }
    this.#violations.push(...misdeliveries(this.#receivers.accepted, events))
    const seenEvents = this.#readers.flatMap((reader) =>
      reader.events.map(({ id, receivedAt }) => ({ seenAt: receivedAt, index: indexes.get(id) ?? -1 })),
    )
    const { operations } = this.#callers
    const { firstEvents: begin } = this.#fixture
    const witnessed = { operations, seenEvents, restarts: this.#restarts, begin }
    this.#violations.push(...violationsOf(witnessed, new EventLog(this.#falsify(events), expiries)))
    this.#checkHistories(new EventLog(events))
    this.#violations.push(...this.#limitedCaller.violations)
    Object.assign(this.#counts, this.#limitedCaller.counts)
    this.#counts.operations = operations.length
    this.#counts.events = events.length
    this.#counts.deliveries = this.#receivers.accepted.length
    this.#counts.flushes = this.disk.flushes
  }

  /** Histories must have the changes of the log. */
  #checkHistories(log: EventLog): void {
    const reading = this.#callers.readHistories().then((histories) => {
      for (const [petId, history] of histories) {
        const [shown, expected] = [history, log.changesOf(petId)].map((changes) =>
          changes.map(({ before, after }) => `${before} → ${after}`).join(),
        )
        if (shown !== expected)
          this.#violations.push(`pet ${petId} has the history ${shown}, not ${expected}`)
      }
    })
    this.#await('reading the histories', reading)
  }
}

interface WantedDelivery extends Delivery {
  readonly event: StockEvent
}

function wantedDeliveries(events: readonly StockEvent[]): WantedDelivery[] {
  return RECEIVERS.flatMap(({ url, kinds }) =>
    events
      .filter((event) => (kinds as readonly string[]).includes(webhookKindOf(event)))
      .map((event) => ({ url, event, message: messageOf(event, 0) })),
  )
}

/** Deliveries of events that are not in the log, or whose first arrival was not in the order of their pet. */
function misdeliveries(accepted: readonly Delivery[], events: readonly StockEvent[]): string[] {
  const found: string[] = []
  const wanted = new Map(
    wantedDeliveries(events).map((delivery, index) => [
      `${delivery.url} ${delivery.message.id}`,
      { ...delivery, index },
    ]),
  )
  const arrived = new Set<string>()
  const latest = new Map<string, number>()
  for (const { url, message } of accepted) {
    const id = `${url} ${message.id}`
    const known = wanted.get(id)
    if (known === undefined || known.message.body !== message.body) {
      found.push(`${url} has received ${message.id} ${message.body}, which is not in the log`)
    } else if (!arrived.has(id)) {
      arrived.add(id)
      const queue = `${url} ${petIdOf(known.event)}`
      if (known.index < (latest.get(queue) ?? -1)) found.push(`${url} has received ${message.id} too late`)
      latest.set(queue, known.index)
    }
  }
  return found
}
