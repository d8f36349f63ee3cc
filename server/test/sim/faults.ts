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
      case 'slow disk': {
        const { flushMs } = disk
        disk.flushMs = random.pick([5, 50, 500])
        return {
          longestMs: 500,
          end: () => {
            disk.flushMs = flushMs
          },
        }
      }
      case 'full disk':
        disk.commitError = sqliteError('SQLITE_FULL', 'database or disk is full')
        return {
          longestMs: 50,
          end: () => {
            disk.commitError = undefined
          },
        }
      case 'failing disk':
        disk.commitError = sqliteError('SQLITE_IOERR_WRITE', 'disk I/O error')
        return {
          longestMs: 50,
          end: () => {
            disk.commitError = undefined
          },
        }
      case 'lock':
        return { longestMs: 30, end: disk.lock() }
      case 'clock step':
        return { longestMs: 5_000, end: setClock(time, random.pick([-1, 1]) * random.pick(CLOCK_STEPS_MS)) }
      case 'receivers down':
        receivers.areDown = true
        return {
          longestMs: 2_000,
          end: () => {
            receivers.areDown = false
          },
        }
      case 'lost messages': {
        const { lossChance } = network
        network.lossChance = 0.3
        return {
          longestMs: 50,
          end: () => {
            network.lossChance = lossChance
          },
        }
      }
    }
  }
}

/** Returns a function that sets the clock right again. */
function setClock(time: VirtualTime, aheadMs: number): () => void {
  time.wallOffset += aheadMs
  return () => {
    time.wallOffset -= aheadMs
  }
}
