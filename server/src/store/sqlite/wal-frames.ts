/** The format of the write-ahead log: https://sqlite.org/fileformat2.html#walformat */
export const LOG_HEADER_BYTES = 32
export const PAGE_SIZE_OFFSET = 8
/** Random numbers that change with every restart of the log. Each frame repeats them. */
export const SALTS_OFFSET = 16
export const SALTS_BYTES = 8
export const FRAME_HEADER_BYTES = 24
export const FRAME_SALTS_OFFSET = 8
/** The number of pages of the database after the commit; 0 in a frame that does not end a commit. */
const FRAME_COMMIT_OFFSET = 4
const FRAME_CHECKSUM_OFFSET = 16
const HEADER_CHECKSUM_OFFSET = 24
const CHECKSUM_BYTES = 8

/** SQLite's checksum of the header and all frames so far, as it is stored. */
export type LogChecksum = Buffer

export interface LogHeader {
  readonly frameBytes: number
  readonly salts: Buffer
  /** Grows by one with every restart of the log. */
  readonly restarts: number
  readonly checksum: LogChecksum
  readonly isBigEndian: boolean
}

/** The end of a commit. */
export interface LogPosition {
  readonly end: number
  readonly checksum: LogChecksum
}

/** Returns `undefined` if the bytes are not the header of a log. */
export function parseLogHeader(bytes: Buffer): LogHeader | undefined {
  if (bytes.length < LOG_HEADER_BYTES) return undefined
  const isBigEndian = (bytes.readUInt32BE(0) & 1) === 1
  const start = Buffer.alloc(CHECKSUM_BYTES)
  const checksum = extendChecksum(start, bytes.subarray(0, HEADER_CHECKSUM_OFFSET), isBigEndian)
  if (!checksum.equals(bytes.subarray(HEADER_CHECKSUM_OFFSET, LOG_HEADER_BYTES))) return undefined
  return {
    frameBytes: FRAME_HEADER_BYTES + bytes.readUInt32BE(PAGE_SIZE_OFFSET),
    salts: Buffer.from(bytes.subarray(SALTS_OFFSET, SALTS_OFFSET + SALTS_BYTES)),
    restarts: bytes.readUInt32BE(SALTS_OFFSET),
    checksum,
    isBigEndian,
  }
}

/** The position before the first frame. */
export function startOfLog({ checksum }: LogHeader): LogPosition {
  return { end: LOG_HEADER_BYTES, checksum }
}

/**
 * The ends of the commits after a position, as SQLite recovers them: up to the first frame that is incomplete or of an earlier
 * restart. `read` returns some bytes from a position on, and fewer than a frame at the end.
 */
export function* commitsAfter(
  from: LogPosition,
  { frameBytes, salts, isBigEndian }: LogHeader,
  read: (position: number) => Buffer,
): Generator<LogPosition> {
  let { end, checksum } = from
  for (;;) {
    const bytes = read(end)
    if (bytes.length < frameBytes) return
    for (let start = 0; start + frameBytes <= bytes.length; start += frameBytes) {
      const frame = bytes.subarray(start, start + frameBytes)
      if (!frame.subarray(FRAME_SALTS_OFFSET, FRAME_SALTS_OFFSET + SALTS_BYTES).equals(salts)) return
      checksum = extendChecksum(checksum, frame.subarray(0, FRAME_SALTS_OFFSET), isBigEndian)
      checksum = extendChecksum(checksum, frame.subarray(FRAME_HEADER_BYTES), isBigEndian)
      if (!checksum.equals(checksumOfFrame(frame))) return
      end += frameBytes
      if (frame.readUInt32BE(FRAME_COMMIT_OFFSET) !== 0) yield { end, checksum }
    }
  }
}

export function checksumOfFrame(frame: Buffer): LogChecksum {
  return frame.subarray(FRAME_CHECKSUM_OFFSET, FRAME_CHECKSUM_OFFSET + CHECKSUM_BYTES)
}

function extendChecksum(checksum: LogChecksum, bytes: Buffer, isBigEndian: boolean): LogChecksum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let first = checksum.readUInt32BE(0)
  let second = checksum.readUInt32BE(4)
  for (let position = 0; position < bytes.length; position += 8) {
    first = (first + words.getUint32(position, !isBigEndian) + second) >>> 0
    second = (second + words.getUint32(position + 4, !isBigEndian) + first) >>> 0
  }
  const extended = Buffer.allocUnsafe(CHECKSUM_BYTES)
  extended.writeUInt32BE(first, 0)
  extended.writeUInt32BE(second, 4)
  return extended
}
