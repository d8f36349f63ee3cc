/** Returns the data of a chunked body. Throws if the body is invalid or incomplete. */
export function decodeChunks(bytes: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const line = bytes.toString('latin1', at, lineEnd)
    if (lineEnd === -1 || !/^[0-9a-f]+$/.test(line)) throw new Error(`no chunk size at byte ${at}: ${line}`)
    const start = lineEnd + 2
    const end = start + Number.parseInt(line, 16)
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error(`no end of a chunk at byte ${end}`)
    at = end + 2
    if (start < end) pieces.push(bytes.subarray(start, end))
    else if (at < bytes.length) throw new Error(`more after the last chunk, at byte ${at}`)
    else return Buffer.concat(pieces)
  }
}
