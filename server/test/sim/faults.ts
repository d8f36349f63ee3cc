import { type SimulatedDisk, sqliteError } from './disk.ts'
import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { Receivers } from './receivers.ts'
import type { VirtualTime } from './virtual-time.ts'

const WEIGHTS = {
  'slow disk': 3,
  'full disk': 2,
  'failing disk': 1,
  lock: 3,
  'clock step': 3,
  'receivers down': 2,
  'lost messages': 2,
}
type FaultName = keyof typeof WEIGHTS

export const LONGEST_CLOCK_STEP_MS = 3_600_000
const CLOCK_STEPS_MS = [1_000, 60_000, LONGEST_CLOCK_STEP_MS]

interface FaultParts {
  readonly time: VirtualTime
  readonly random: Random
  readonly disk: SimulatedDisk
  readonly network: Network
  readonly receivers: Receivers
}

/** Faults that begin at any time and end by themselves, unless a crash ends them. */
export class Faults {
  readonly #parts: FaultParts
  readonly #ends = new Map<FaultName, () => void>()

  constructor(parts: FaultParts) {
    this.#parts = parts
  }

  /** Returns the name of the fault; `undefined` if this fault has begun before. */
  begin(): FaultName | undefined {
    const name = this.#parts.random.pickWeighted(WEIGHTS)
    if (this.#ends.has(name)) return undefined
    const { longestMs, end } = this.#start(name)
    this.#ends.set(name, end)
    this.#parts.time.after(this.#parts.random.next() * longestMs, () => {
      if (this.#ends.get(name) === end) this.#end(name)
    })
    return name
  }

  /** A wrong clock outlives a crash. */
  endAll(): void {
    for (const name of this.#ends.keys()) if (name !== 'clock step') this.#end(name)
  }

  get areOver(): boolean {
    return this.#ends.size === 0
  }

  #end(name: FaultName): void {
    this.#ends.get(name)?.()
    this.#ends.delete(name)
  }

  #start(name: FaultName): { readonly longestMs: number; readonly end: () => void } {
    const { time, random, disk, network, receivers } = this.#parts
    switch (name) {
      case 'slow disk':
        return { longestMs: 500, end: replace(disk, 'flushMs', random.pick([5, 50, 500])) }
      case 'full disk':
        return { longestMs: 50, end: failCommits(disk, 'SQLITE_FULL', 'database or disk is full') }
      case 'failing disk':
        return { longestMs: 50, end: failCommits(disk, 'SQLITE_IOERR_WRITE', 'disk I/O error') }
      case 'lock':
        return { longestMs: 30, end: disk.lock() }
      case 'clock step':
        return { longestMs: 5_000, end: setClock(time, random.pick([-1, 1]) * random.pick(CLOCK_STEPS_MS)) }
      case 'receivers down':
        return { longestMs: 2_000, end: replace(receivers, 'areDown', true) }
      case 'lost messages':
        return { longestMs: 50, end: replace(network, 'lossChance', 0.3) }
    }
  }
}

/** Returns a function that sets the previous value again. */
function replace<Part, Name extends keyof Part>(part: Part, name: Name, value: Part[Name]): () => void {
  const previous = part[name]
  part[name] = value
  return () => {
    part[name] = previous
  }
}

/** Returns a function that lets commits succeed again. A full disk may also fail, so the previous error must not return. */
function failCommits(disk: SimulatedDisk, code: string, message: string): () => void {
  disk.commitError = sqliteError(code, message)
  return () => {
    disk.commitError = undefined
  }
}

/** Returns a function that sets the clock right again. */
function setClock(time: VirtualTime, aheadMs: number): () => void {
  time.stepWallClock(aheadMs)
  return () => time.stepWallClock(-aheadMs)
}
