import { createSecret } from '../../server/src/core/keys/api-key.ts'
import { conflictingRequests, malformedRequests } from '../../server/test/faults/hostile/requests.ts'
import type { Random } from '../../server/test/sim/random.ts'
import { HostileSocket } from '../../wire/test/hostile-socket.ts'

export interface Target {
  readonly port: number
  readonly key: string
}

/** How many connections are opened at a time: more would exceed the listener's queue. */
const BATCH = 100
const DRIP_MS = 250
const MEBIBYTE = 1024 * 1024

/** The number of responses by status; 0 stands for a connection closed without one. */
export type Statuses = Readonly<Record<number, number>>

async function openAll(port: number, count: number): Promise<HostileSocket[]> {
  const sockets: HostileSocket[] = []
  while (sockets.length < count) {
    const batch = Math.min(BATCH, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => HostileSocket.open(port)))))
  }
  return sockets
}

/** Connections that stay open for as long as the service allows. */
export interface Held {
  readonly count: number
  /** Resolves when the service has closed them all. */
  readonly allClosed: Promise<void>
  end(): void
}

/** Sends `opening` on each of several connections, then `drip` repeatedly and without end. */
export async function hold(port: number, count: number, opening: string, drip: string): Promise<Held> {
  const sockets = await openAll(port, count)
  for (const socket of sockets) socket.send(opening)
  const timer = setInterval(() => {
    if (drip !== '') for (const socket of sockets) socket.send(drip)
  }, DRIP_MS)
  const allClosed = Promise.all(sockets.map((socket) => socket.closed)).then(() => clearInterval(timer))
  return {
    count,
    allClosed,
    end: () => {
      clearInterval(timer)
      for (const socket of sockets) socket.end()
    },
  }
}

export function idleConnections({ port }: Target, count: number): Promise<Held> {
  return hold(port, count, '', '')
}

export function slowHeaders({ port }: Target, count: number): Promise<Held> {
  return hold(port, count, 'GET /v1/inventory HTTP/1.1\r\nHost: petstore.test\r\nX-Slow: ', 'a')
}

export function slowBodies({ port, key }: Target, count: number): Promise<Held> {
  return hold(port, count, updateHead(key, 'Content-Length: 60000'), ' ')
}

/** Requests the whole list and reads nothing of it. */
export async function slowReaders({ port, key }: Target, count: number): Promise<Held> {
  const sockets = await openAll(port, count)
  for (const socket of sockets) {
    socket.stopReading()
    socket.send(
      `GET /v1/inventory HTTP/1.1\r\nHost: petstore.test\r\nAuthorization: Bearer ${key}\r\nAccept-Encoding: identity\r\n\r\n`,
    )
  }
  return {
    count,
    // A client that does not read does not see the end either.
    allClosed: Promise.resolve(),
    end: () => {
      for (const socket of sockets) socket.end()
    },
  }
}

/** Connects repeatedly with invalid requests, and waits each time until it is disconnected. */
export async function malformedFlood({ port, key }: Target, count: number, random: Random): Promise<void> {
  const requests = [...malformedRequests(key), ...conflictingRequests(key)]
  for (let sent = 0; sent < count; sent += BATCH) {
    const sockets = await openAll(port, Math.min(BATCH, count - sent))
    for (const socket of sockets) socket.send(random.pick(requests).text)
    await Promise.all(sockets.map((socket) => socket.closed))
  }
}

/** Sends headers without end, up to a mebibyte, or until it is disconnected. */
export async function headerFlood({ port }: Target, connections: number): Promise<void> {
  const headers = Buffer.from(`X-Flood: ${'a'.repeat(1_000)}\r\n`.repeat(16))
  const sockets = await openAll(port, connections)
  await Promise.all(
    sockets.map(async (socket) => {
      socket.send('GET /v1/inventory HTTP/1.1\r\nHost: petstore.test\r\n')
      await socket.sendAll(headers, MEBIBYTE / headers.length)
      await socket.closed
    }),
  )
}

/** Large bodies: declared, declared twice, in chunks, in one chunk, with a valid key and without. */
export async function bodyFlood(
  { port, key }: Target,
  connections: number,
  mebibytes: number,
): Promise<Statuses> {
  const blanks = Buffer.alloc(MEBIBYTE, ' ')
  const chunk = Buffer.concat([Buffer.from(`${MEBIBYTE.toString(16)}\r\n`), blanks, Buffer.from('\r\n')])
  const length = `Content-Length: ${mebibytes * MEBIBYTE}`
  const chunked = 'Transfer-Encoding: chunked'
  const wholeInOne = `${(mebibytes * MEBIBYTE).toString(16)}\r\n`
  const kinds: readonly [head: string, piece: Buffer][] = [
    [updateHead(key, length), blanks],
    [updateHead(key, `${length}\r\n${length}`), blanks],
    [updateHead(key, chunked), chunk],
    [updateHead(key, chunked) + wholeInOne, blanks],
    [updateHead('nobody', length), blanks],
    [updateHead('nobody', chunked), chunk],
    [updateHead(key, length).replace('PATCH', 'GET'), blanks],
  ]
  const sockets = await openAll(port, connections)
  const answers = await Promise.all(
    sockets.map(async (socket, index) => {
      const [head, piece] = kinds[index % kinds.length] ?? ['', blanks]
      socket.send(head)
      await socket.sendAll(piece, mebibytes)
      const answer = await socket.answer('PATCH')
      socket.end()
      return answer?.status ?? 0
    }),
  )
  return tally(answers)
}

/** Tries one key after the other, as a guesser would: half of them look like keys. */
export async function wrongKeys({ port }: Target, count: number, connections: number): Promise<Statuses> {
  const sockets = await openAll(port, connections)
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      const seen: number[] = []
      for (let sent = 0; sent < count / connections; sent++) {
        const key = sent % 2 === 0 ? createSecret('production') : crypto.randomUUID()
        socket.send(
          `GET /v1/inventory HTTP/1.1\r\nHost: petstore.test\r\nAuthorization: Bearer ${key}\r\n\r\n`,
        )
        seen.push((await socket.answer())?.status ?? 0)
      }
      socket.end()
      return seen
    }),
  )
  return tally(statuses.flat())
}

function updateHead(key: string, framing: string): string {
  return `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: petstore.test\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`
}

function tally(statuses: readonly number[]): Statuses {
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
