import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import type { Load } from '../cases.ts'
import { PEER_SECRETS, writePeerDatabase } from '../dataset.ts'
import { startServer } from '../processes.ts'
import type { Target } from '../target.ts'

const BENCH = join(import.meta.dir, '..')
const LOADS: readonly Load['kind'][] = ['list', 'updates', 'adjustments', 'orders', 'unknown-key']

export const PEER_ENVIRONMENT = { NODE_ENV: 'production' }

export const hono = peer('hono', 'Hono on Bun, bun:sqlite', {
  loads: [...LOADS, 'search'],
  command: [process.execPath, join(BENCH, 'peers', 'hono.ts')],
})

export const elysia = peer('elysia', 'Elysia on Bun, bun:sqlite', {
  loads: LOADS,
  command: [process.execPath, join(BENCH, 'peers', 'elysia.ts')],
})

export const fastify = peer('fastify', 'Fastify, better-sqlite3', {
  loads: LOADS,
  command: ['node', join(BENCH, 'dist', 'fastify.js')],
})

/** Node 20 cannot run TypeScript. */
export async function buildNodePeers(): Promise<void> {
  await Bun.build({
    entrypoints: [join(BENCH, 'peers', 'fastify.ts')],
    outdir: join(BENCH, 'dist'),
    target: 'node',
    packages: 'external',
  })
}

function peer(
  name: string,
  label: string,
  { loads, command }: { loads: readonly Load['kind'][]; command: readonly string[] },
): Target {
  return {
    name,
    label,
    kind: 'peer',
    section: 'embedded',
    loads,
    start: async (dataset) => {
      const port = freePort()
      const database = writePeerDatabase(dataset, name)
      const server = await startServer(name, [...command, database, String(port)], {
        port,
        folder: dataset.folder,
        readyPath: '/',
        environment: PEER_ENVIRONMENT,
      })
      return { ...server, secrets: PEER_SECRETS }
    },
  }
}
