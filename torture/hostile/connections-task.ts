import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TortureTask } from '../../server/scripts/torture-task.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../../wire/test/test-certificate.ts'
import {
  MAX_FLOODED_BYTES,
  MAX_HEALTH_P99_MS,
  pipelinedFlood,
  readList,
  slowReadersUnderUpdates,
} from './floods.ts'
import { type HostileService, startHostileService } from './service.ts'

const PETS = 100_000
const MIN_ENTRY_BYTES = 40
const FLOOD_SECONDS = 20
const BYTES_PER_SECOND = 20 * 1024
const BYTES_PER_SECOND_IN_SHORT = 400 * 1024
const READERS = 400
/** The maximum of unsent data, and as much again for garbage. */
const MAX_BYTES_FOR_READERS = 2 * 256 * 1024 * 1024

/** The long form of the floods and slow readers of wire/test. */
export const connectionsTask: TortureTask = {
  name: 'connections',
  promise:
    'Floods of requests and slow readers neither block others nor fill the memory, and every steady reader gets the whole response.',
  share: 3,
  run: async ({ isFull, say }) => {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-connections-'))
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    await Promise.all([Bun.write(cert, CERTIFICATE), Bun.write(key, PRIVATE_KEY)])
    const plain = await startHostileService()
    const overTls = await startHostileService({ TLS_CERT: cert, TLS_KEY: key })
    const figures: [string, string][] = []
    const violations: string[] = []
    const note = (what: string, value: string, isGood: boolean) => {
      say(`${what}: ${value}`)
      figures.push([what, value])
      if (!isGood) violations.push(`${what}: ${value}`)
    }
    try {
      // A key that was never seen would be refused like its address after the flood.
      await readList(plain, { isTls: false, isKept: false })
      const { p99Ms, maxBytes } = await pipelinedFlood(plain, isFull ? FLOOD_SECONDS : 3)
      note('99th hundredth of /healthz beside 8 floods', `${p99Ms.toFixed(1)} ms`, p99Ms < MAX_HEALTH_P99_MS)
      note('the most memory meanwhile', megabytes(maxBytes), maxBytes < MAX_FLOODED_BYTES)
      await Promise.all([plain.stock(PETS), overTls.stock(PETS)])
      const pace = isFull ? BYTES_PER_SECOND : BYTES_PER_SECOND_IN_SHORT
      const unread = await readAllSlowly([plain, overTls], pace)
      note(
        `readers of ${pace / 1024} KiB/s that did not get all of the list, of 4`,
        unread.join(', ') || '0',
        unread.length === 0,
      )
      const quietBytes = await plain.metric('process_resident_memory_bytes')
      const mostBytes = await slowReadersUnderUpdates(plain, isFull ? READERS : READERS / 4)
      note(
        'the most memory with slow readers while updates went on',
        `${megabytes(mostBytes)}, ${megabytes(quietBytes)} before`,
        mostBytes < quietBytes + MAX_BYTES_FOR_READERS,
      )
      return { figures, violations }
    } finally {
      await Promise.all([plain.stop(), overTls.stop()])
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Over plain connections and TLS, with keep-alive and without; names the readers that did not get everything. */
async function readAllSlowly(services: readonly HostileService[], bytesPerSecond: number): Promise<string[]> {
  const readers = services.flatMap((service) =>
    [true, false].map(async (isKept) => {
      const isTls = service.address.startsWith('https:')
      const whole = await readList(service, { isTls, isKept: false })
      const read = await readList(service, { isTls, isKept }, bytesPerSecond, whole.length)
      const isGood = read.equals(whole) && whole.length > PETS * MIN_ENTRY_BYTES
      return isGood ? [] : [`${isTls ? 'TLS' : 'plain'} ${isKept ? 'kept alive' : 'closed'}`]
    }),
  )
  return (await Promise.all(readers)).flat()
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
