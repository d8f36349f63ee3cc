import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupFolder } from '../../src/store/sqlite/backup-folder.ts'
import type { Random } from './random.ts'

/** The unit that a disk writes atomically. */
const BLOCK_BYTES = 512
const EMPTY = Buffer.alloc(0)

/** The power of the machine is cut during a call. */
export class PowerCut extends Error {}

/**
 * The folder of a continuous backup on a disk that fails with EIO and ENOSPC and loses its power. A call that has returned is
 * durable. One that has not leaves any of its blocks, in any order, and a new name or none.
 */
export class SimulatedFolder implements BackupFolder {
  readonly #random: Random
  #files = new Map<string, Buffer>()
  isFull = false
  /** The number of calls until the power is cut. */
  callsUntilPowerCut = Number.POSITIVE_INFINITY
  calls = 0
  failures = 0

  constructor(random: Random) {
    this.#random = random
  }

  async list(): Promise<string[]> {
    this.#call(() => {})
    return [...this.#files.keys()]
  }

  /** Without a call of the disk. */
  names(): string[] {
    return [...this.#files.keys()]
  }

  lock(): void {}

  close(): void {}

  async write(name: string, bytes: Uint8Array, position: number): Promise<void> {
    this.#call(
      (isWritten) => {
        const old = position === 0 ? EMPTY : (this.#files.get(name) ?? EMPTY)
        if (old.length < position) throw new Error(`a hole in ${name}`)
        const file = Buffer.alloc(Math.max(old.length, position + bytes.length))
        old.copy(file)
        let end = old.length
        for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
          if (!isWritten()) continue
          const block = bytes.subarray(from, from + BLOCK_BYTES)
          file.set(block, position + from)
          end = Math.max(end, position + from + block.length)
        }
        if (position > 0 || isWritten()) this.#files.set(name, file.subarray(0, end))
      },
      { needsSpace: true },
    )
  }

  async rename(from: string, to: string): Promise<void> {
    this.#call((isWritten) => {
      const file = this.#files.get(from)
      // An earlier attempt may have failed after the rename.
      if (file === undefined && this.#files.has(to)) return
      if (file === undefined) throw new Error(`${from} does not exist`)
      if (!isWritten()) return
      this.#files.delete(from)
      this.#files.set(to, file)
    })
  }

  async remove(name: string): Promise<void> {
    this.#call((isWritten) => {
      if (isWritten()) this.#files.delete(name)
    })
  }

  /** Writes what the disk has to a real folder. */
  copyTo(folder: string): void {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const [name, bytes] of this.#files) writeFileSync(join(folder, name), bytes)
  }

  restartAfterPowerCut(): void {
    this.callsUntilPowerCut = Number.POSITIVE_INFINITY
    this.isFull = false
  }

  #call(change: (isWritten: () => boolean) => void, { needsSpace = false } = {}): void {
    this.calls++
    const someBlocks = () => this.#random.chance(0.5)
    if (--this.callsUntilPowerCut <= 0) {
      if (this.callsUntilPowerCut === 0) change(someBlocks)
      throw new PowerCut('the power is cut')
    }
    const isFull = needsSpace && this.isFull
    if (isFull || this.#random.chance(0.02)) {
      this.failures++
      change(someBlocks)
      const code = isFull ? 'ENOSPC' : 'EIO'
      throw Object.assign(new Error(code), { code })
    }
    change(() => true)
  }
}
