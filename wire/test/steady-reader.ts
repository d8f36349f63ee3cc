import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CERTIFICATE } from './test-certificate.ts'

/** Reads the body at a steady rate, until it has the given length or the connection is closed. */
export async function readSteadily(
  socket: Socket,
  bytesPerSecond: number,
  bodyLength: number,
): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  let bodyStart: number | undefined
  const start = performance.now()
  for await (const piece of socket as AsyncIterable<Buffer>) {
    pieces.push(piece)
    length += piece.length
    bodyStart ??= piece.indexOf('\r\n\r\n') + 4
    if (length >= bodyStart + bodyLength) break
    await Bun.sleep(Math.max(0, start + (length / bytesPerSecond) * 1_000 - performance.now()))
  }
  socket.destroy()
  return Buffer.concat(pieces).subarray(bodyStart)
}

/** Opens a connection. With TLS, it accepts the test certificate. */
export function openReader(port: number, isTls: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const address = { port, host: '127.0.0.1', highWaterMark: 16 * 1024 }
    const socket = isTls
      ? connectTls({ ...address, ca: CERTIFICATE, servername: 'localhost' })
      : connectPlain(address)
    socket.once('error', reject)
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve(socket))
  })
}
