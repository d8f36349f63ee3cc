import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/**
 * The write-ahead log of an open database, to flush it. SQLite keeps using one file for as long as any connection of
 * this process is open: a checkpoint lets it start again at the beginning, and only the last connection that closes
 * removes it. So the descriptor stays right until the connection closes. Nobody locks this file, so closing the
 * descriptor releases none of SQLite's locks.
 */
export class WalFile {
  readonly #descriptor: number

  /** The database must have been read or written before: SQLite creates the file then. */
  static open(databasePath: string): WalFile | undefined {
    const path = `${databasePath}-wal`
    if (!existsSync(path)) return undefined
    try {
      return new WalFile(openSync(path, 'r+'))
    } catch {
      // Who may only read can flush all the same.
      return new WalFile(openSync(path, 'r'))
    }
  }

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Flushes off the event loop. */
  flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  /** Flushes on the event loop. */
  flushNow(): void {
    fdatasyncSync(this.#descriptor)
  }

  /**
   * Writes the same bytes again, then flushes them. After a failed flush the kernel may count pages as written that
   * never reached the disk, and another flush would not write them. Nobody may write to the log meanwhile.
   */
  rewrite(): void {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const { size } = fstatSync(this.#descriptor)
    for (let position = 0; position < size; ) {
      const length = readSync(this.#descriptor, chunk, 0, CHUNK_BYTES, position)
      if (length === 0) break
      for (let written = 0; written < length; ) {
        written += writeSync(this.#descriptor, chunk, written, length - written, position + written)
      }
      position += length
    }
    this.flushNow()
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
