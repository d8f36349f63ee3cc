import { type TortureTask, untilOver } from '../../server/scripts/torture-task.ts'
import { Random } from '../../server/test/sim/random.ts'
import {
  bodyFlood,
  type Held,
  headerFlood,
  idleConnections,
  malformedFlood,
  slowBodies,
  slowHeaders,
  slowReaders,
  type Target,
  wrongKeys,
} from './attacks.ts'
import { MAX_TIMES_SLOWER, PoliteClient } from './polite.ts'
import { type HostileService, startHostileService } from './service.ts'

const PETS = 100_000
const LEAST_ROUNDS = 5
const MAX_ADDED_BYTES = 400 * 1024 * 1024
/** The service closes a silent connection after some 10 s, and one that reads nothing after a minute. */
const LONGEST_HOLD_MS = 80_000

interface Attack {
  readonly name: string
  /** Returns the number of connections, requests or keys. */
  readonly run: (target: Target, random: Random, held: Held[]) => Promise<number>
}

const ATTACKS: readonly Attack[] = [
  holding('idle connections', idleConnections, 2_000),
  holding('slow senders of headers', slowHeaders, 500),
  holding('slow senders of bodies', slowBodies, 500),
  holding('slow readers of the list', slowReaders, 400),
  counted('malformed requests', 2_000, (target, count, random) => malformedFlood(target, count, random)),
  counted('floods of headers', 200, (target, count) => headerFlood(target, count)),
  counted('floods of bodies of 32 MiB', 21, (target, count) => bodyFlood(target, count, 32)),
  counted('wrong keys', 10_000, (target, count) => wrongKeys(target, count, 50)),
]

/** All attacks in random order and size, while the stock changes. */
export const hostileTask: TortureTask = {
  name: 'hostile',
  promise: 'Hostile clients do not slow others down for long, do not fill the memory, and are disconnected.',
  share: 2,
  run: async (options) => {
    const random = new Random(options.seed)
    const isOver = untilOver(options, LEAST_ROUNDS)
    const service = await startHostileService()
    await service.stock(PETS)
    const polite = new PoliteClient(service.address, service.key)
    const siege = new Siege(service, polite, random)
    try {
      await siege.lookAround()
      let rounds = 0
      while (!isOver(rounds)) {
        await siege.round()
        options.say(`round ${++rounds}: ${siege.shown()}`)
      }
      return {
        figures: [['rounds of all attacks', String(rounds)], ...siege.figures()],
        violations: siege.violations,
      }
    } finally {
      polite.end()
      await service.stop()
    }
  },
}

class Siege {
  readonly violations: string[] = []
  readonly #service: HostileService
  readonly #polite: PoliteClient
  readonly #random: Random
  readonly #counts = new Map<string, number>()
  #quiet = { medianMs: 0, bytes: 0, files: 0 }
  #politeRequests = 0
  #worstMedianMs = 0
  #mostBytes = 0
  #mostFiles = 0

  constructor(service: HostileService, polite: PoliteClient, random: Random) {
    this.#service = service
    this.#polite = polite
    this.#random = random
  }

  /** Measures the idle service. */
  async lookAround(): Promise<void> {
    await this.#polite.figures(200)
    const { medianMs } = await this.#polite.figures(500)
    const [bytes, files] = await this.#usage()
    this.#quiet = { medianMs, bytes, files }
  }

  async round(): Promise<void> {
    const held: Held[] = []
    const order = ATTACKS.map((attack) => ({ attack, at: this.#random.next() })).sort(
      (one, other) => one.at - other.at,
    )
    for (const { attack } of order) {
      const count = await attack.run(this.#service, this.#random, held)
      this.#counts.set(attack.name, (this.#counts.get(attack.name) ?? 0) + count)
      await this.#judge(attack.name)
    }
    await this.#seeThemOff(held)
  }

  shown(): string {
    const mebibytes = Math.round(this.#mostBytes / 1024 / 1024)
    return `${this.#politeRequests} polite requests, worst median ${this.#worstMedianMs.toFixed(2)} ms, at most ${mebibytes} MiB`
  }

  figures(): [string, string][] {
    const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`
    return [
      ...[...this.#counts].map(([name, count]): [string, string] => [name, String(count)]),
      ['requests of a well-behaved client meanwhile', String(this.#politeRequests)],
      ['its median time on the quiet service', `${this.#quiet.medianMs.toFixed(2)} ms`],
      ['its median time in the worst attack', `${this.#worstMedianMs.toFixed(2)} ms`],
      ['resident memory of the quiet service', mebibytes(this.#quiet.bytes)],
      ['the most resident memory in an attack', mebibytes(this.#mostBytes)],
      ['the most open files and connections', String(this.#mostFiles)],
    ]
  }

  async #judge(during: string): Promise<void> {
    const { failed, medianMs, requests } = await this.#polite.figures(100)
    const [bytes, files] = await this.#usage()
    this.#politeRequests += requests
    this.#worstMedianMs = Math.max(this.#worstMedianMs, medianMs)
    this.#mostBytes = Math.max(this.#mostBytes, bytes)
    this.#mostFiles = Math.max(this.#mostFiles, files)
    if (failed.length > 0) this.violations.push(`${during}: others got ${failed.slice(0, 5).join(', ')}`)
    if (medianMs > this.#quiet.medianMs * MAX_TIMES_SLOWER) {
      this.violations.push(`${during}: others waited ${medianMs} ms instead of ${this.#quiet.medianMs} ms`)
    }
    if (bytes > this.#quiet.bytes + MAX_ADDED_BYTES) {
      this.violations.push(`${during}: ${bytes} bytes of memory instead of ${this.#quiet.bytes}`)
    }
  }

  /** Only the service ends them. */
  async #seeThemOff(held: readonly Held[]): Promise<void> {
    const deadline = performance.now() + LONGEST_HOLD_MS
    for (;;) {
      const [, files] = await this.#usage()
      if (files <= this.#quiet.files + 5) break
      if (performance.now() > deadline) {
        this.violations.push(`${files} files and connections are open instead of ${this.#quiet.files}`)
        break
      }
      await Bun.sleep(200)
    }
    for (const each of held) each.end()
  }

  async #usage(): Promise<[bytes: number, files: number]> {
    return [
      await this.#service.metric('process_resident_memory_bytes'),
      await this.#service.metric('process_open_fds'),
    ]
  }
}

function holding(
  name: string,
  begin: (target: Target, count: number) => Promise<Held>,
  most: number,
): Attack {
  return {
    name,
    run: async (target, random, held) => {
      const one = await begin(target, random.integer(most / 2, most))
      held.push(one)
      return one.count
    },
  }
}

function counted(
  name: string,
  most: number,
  attack: (target: Target, count: number, random: Random) => Promise<unknown>,
): Attack {
  return {
    name,
    run: async (target, random) => {
      const count = random.integer(Math.ceil(most / 2), most)
      await attack(target, count, random)
      return count
    },
  }
}
