import { createReadStream, statSync } from 'node:fs'
import { addAbortSignal } from 'node:stream'

/** Enough to be quick, little enough that a signal is heard in between. */
const CHUNK_BYTES = 256 * 1024

/** A file or standard input, read as it is asked for. */
export interface ByteSource {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Not known of a pipe. */
  readonly size: number | undefined
  readonly bytesRead: () => number
}

/** `path` may be `-` for standard input. The signal ends the reading, also while it waits for more. */
export function openBytes(path: string, signal: AbortSignal): ByteSource {
  const size = path === '-' ? undefined : sizeOf(path)
  const stream = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES })
  addAbortSignal(signal, stream)
  let bytesRead = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      bytesRead += chunk.byteLength
      yield chunk
    }
  }
  return { chunks: counted(), size, bytesRead: () => bytesRead }
}

function sizeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new Error(`cannot read ${path}: there is no such file`)
  if (found.isDirectory()) throw new Error(`cannot read ${path}: it is a folder`)
  return found.isFile() ? found.size : undefined
}
