import { join } from 'node:path'
import { type Dataset, PEER_SECRETS, writePeerDatabase } from '../dataset.ts'
import { freePort, startServer } from '../processes.ts'
import type { RunningTarget, Target } from '../target.ts'

const BENCH = join(import.meta.dir, '..')
const NODE_SOURCES = ['fastify', 'express'] as const

/** Express and others ask for it in their advice on speed. */
const environment = { NODE_ENV: 'production' }

interface PeerCommand {
  readonly name: string
  /** Adjustments and orders: more than one statement in a transaction that can fail. */
  readonly takesTransactions: boolean
  readonly label: string
  readonly command: (database: string, port: string) => string[]
}

export const hono = peer({
  name: 'hono',
  takesTransactions: true,
  label: 'Hono on Bun, bun:sqlite',
  command: (database, port) => [process.execPath, join(BENCH, 'peers', 'hono.ts'), database, port],
})

export const elysia = peer({
  name: 'elysia',
  takesTransactions: true,
  label: 'Elysia on Bun, bun:sqlite',
  command: (database, port) => [process.execPath, join(BENCH, 'peers', 'elysia.ts'), database, port],
})

export const fastify = peer({
  name: 'fastify',
  takesTransactions: true,
  label: 'Fastify, better-sqlite3',
  command: (database, port) => ['node', join(BENCH, 'dist', 'fastify.js'), database, port],
})

export const express = peer({
  name: 'express',
  takesTransactions: false,
  label: 'Express 5, better-sqlite3',
  command: (database, port) => ['node', join(BENCH, 'dist', 'express.js'), database, port],
})

/** In its own way: one JSON file, no keys, no limits, no history, nothing synced to disk. */
export const jsonServer: Target = {
  name: 'json-server',
  label: 'json-server (no keys, no sync)',
  kind: 'peer',
  section: 'embedded',
  listPath: '/inventory',
  listEquals: 'content',
  takesUpdates: true,
  takesAdjustments: false,
  takesOrders: false,
  takesSearches: false,
  checksKeys: false,
  start: async ({ folder, body }) => {
    const port = await freePort()
    const file = join(folder, 'json-server.json')
    await Bun.write(file, `{"inventory":${body}}`)
    const program = join(BENCH, 'node_modules', 'json-server', 'lib', 'cli', 'bin.js')
    return startPeer(
      'json-server',
      ['node', program, file, '--id', 'petId', '--quiet', '--port', String(port)],
      {
        port,
        folder,
      },
    )
  },
}

/** Node 20 runs no TypeScript: the peers on Node are translated to bench/dist first. */
export async function buildNodePeers(): Promise<void> {
  await Bun.build({
    entrypoints: NODE_SOURCES.map((name) => join(BENCH, 'peers', `${name}.ts`)),
    outdir: join(BENCH, 'dist'),
    target: 'node',
    packages: 'external',
  })
}

function peer({ name, label, takesTransactions, command }: PeerCommand): Target {
  return {
    name,
    label,
    kind: 'peer',
    section: 'embedded',
    listPath: '/v1/inventory',
    listEquals: 'bytes',
    takesUpdates: true,
    takesAdjustments: takesTransactions,
    takesOrders: takesTransactions,
    takesSearches: name === 'hono',
    checksKeys: true,
    start: async (dataset: Dataset) => {
      const port = await freePort()
      const database = writePeerDatabase(dataset, name)
      return startPeer(name, command(database, String(port)), { port, folder: dataset.folder })
    },
  }
}

async function startPeer(
  name: string,
  command: string[],
  place: { port: number; folder: string },
): Promise<RunningTarget> {
  const server = await startServer(name, command, { ...place, readyPath: '/', environment })
  return { ...server, secrets: PEER_SECRETS }
}
