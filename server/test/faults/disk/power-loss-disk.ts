import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { throughDisk } from '../../support/disk-shim.ts'

/** The unit that a disk writes atomically. */
const BLOCK_BYTES = 512
/** Long enough that reads meet unflushed commits. */
const FLUSH_MS = '3'
const FILES = ['', '-wal'] as const
/** Otherwise everything unflushed is lost. */
const SOME_WRITTEN_CHANCE = 0.5

/**
 * The disk of a database whose power can be cut. After a kill -9 alone the kernel still writes everything, so a
 * missing flush never shows. Here each file is as of its last flush, or with some of the blocks that were
 * written later.
 */
export class PowerLossDisk {
  readonly #path: string
  readonly #copies: string

  /** No process may have the database open. */
  constructor(path: string) {
    this.#path = path
    this.#copies = join(dirname(path), 'flushed')
    mkdirSync(this.#copies)
    copyFileSync(path, this.#flushed(''))
  }

  through(): Promise<string[]> {
    return throughDisk({
      DISK_FOLDER: dirname(this.#path),
      DISK_COPIES: this.#copies,
      DISK_FLUSH_MS: FLUSH_MS,
    })
  }

  /** Every process that has the database open must have been killed. */
  cut(random: () => number): void {
    const chance = random() < SOME_WRITTEN_CHANCE ? random() : 0
    for (const ending of FILES) {
      const [path, flushed] = [this.#path + ending, this.#flushed(ending)]
      if (!existsSync(flushed)) rmSync(path, { force: true })
      else
        writeFileSync(
          path,
          mixed(readFileSync(flushed), readFileSync(path), () => random() < chance),
        )
      copyFileSync(path, flushed)
    }
    rmSync(`${this.#path}-shm`, { force: true })
  }

  #flushed(ending: string): string {
    return join(this.#copies, basename(this.#path) + ending)
  }
}

/** As long as the longer one; blocks that neither has are zeros. */
function mixed(flushed: Buffer, written: Buffer, isWritten: () => boolean): Buffer {
  const length = isWritten() ? Math.max(flushed.length, written.length) : flushed.length
  const result = Buffer.alloc(length)
  for (let from = 0; from < length; from += BLOCK_BYTES) {
    const source = isWritten() ? written : flushed
    if (from < source.length) source.copy(result, from, from, from + BLOCK_BYTES)
  }
  return result
}
