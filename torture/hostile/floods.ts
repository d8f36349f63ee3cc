import { join } from 'node:path'
import { HostileSocket } from '../../wire/test/hostile-socket.ts'
import { openReader, readSteadily } from '../../wire/test/steady-reader.ts'
import type { Target } from './attacks.ts'
import type { HostileService } from './service.ts'

const FLOOD_CLIENT = join(import.meta.dir, '../../wire/test/flood-client.ts')
const FLOODING_CONNECTIONS = 8
const WRITERS = 8
const UPDATED_PETS = 25_000
/** Many changes happen between two readers, so they share little. */
const BETWEEN_READERS_MS = 75
/** The limits for the effect of the flood on others and on memory. */
export const MAX_HEALTH_P99_MS = 50
export const MAX_FLOODED_BYTES = 200_000_000

export interface FloodFigures {
  readonly p99Ms: number
  readonly maxBytes: number
}

/** Sends requests without a key over eight connections, 4,000 at a time, and measures `/healthz` meanwhile. */
export async function pipelinedFlood(service: HostileService, seconds: number): Promise<FloodFigures> {
  const args = [String(service.port), String(FLOODING_CONNECTIONS), '/v1/inventory']
  const flood = Bun.spawn([process.execPath, FLOOD_CLIENT, ...args])
  const waits: number[] = []
  let maxBytes = 0
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    const asked = performance.now()
    await (await fetch(`${service.address}/healthz`)).text()
    waits.push(performance.now() - asked)
    if (waits.length % 20 === 0) {
      maxBytes = Math.max(maxBytes, await service.metric('process_resident_memory_bytes'))
    }
    await Bun.sleep(1)
  }
  flood.kill()
  await flood.exited
  const p99Ms = waits.toSorted((one, other) => one - other)[Math.floor(waits.length * 0.99)] ?? Number.NaN
  return { p99Ms, maxBytes }
}

/** The complete list as sent, read at this many bytes a second; shorter if the connection is closed early. */
export async function readList(
  { port, key }: Target,
  { isTls, isKept }: { readonly isTls: boolean; readonly isKept: boolean },
  bytesPerSecond = Number.POSITIVE_INFINITY,
  bodyLength = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const socket = await openReader(port, isTls)
  socket.write(listRequest(key, isKept ? '' : 'Connection: close\r\n'))
  return readSteadily(socket, bytesPerSecond, bodyLength)
}

/** Very slow readers of the list start one after the other during updates; returns the peak memory. */
export async function slowReadersUnderUpdates(service: HostileService, readers: number): Promise<number> {
  const sockets: HostileSocket[] = []
  let maxBytes = 0
  let isOver = false
  const update = async () => {
    for (let quantity = 0; !isOver; quantity++) {
      const petId = 1 + Math.floor(Math.random() * UPDATED_PETS)
      const answer = await fetch(`${service.address}/v1/inventory/${petId}`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
        body: `{"quantity":${quantity}}`,
      })
      if (answer.status !== 200) throw new Error(`an update got ${answer.status}: ${await answer.text()}`)
    }
  }
  const updating = Promise.all(Array.from({ length: WRITERS }, update))
  try {
    for (let opened = 0; opened < readers; opened++) {
      const socket = await HostileSocket.open(service.port)
      socket.stopReading()
      socket.send(listRequest(service.key))
      sockets.push(socket)
      await Bun.sleep(BETWEEN_READERS_MS)
      if (opened % 10 === 0) {
        maxBytes = Math.max(maxBytes, await service.metric('process_resident_memory_bytes'))
      }
    }
  } finally {
    isOver = true
    await updating
    for (const socket of sockets) socket.end()
  }
  return maxBytes
}

function listRequest(key: string, lines = ''): string {
  return `GET /v1/inventory HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nAccept-Encoding: identity\r\n${lines}\r\n`
}
