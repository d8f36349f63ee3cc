import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { petstore, startPetstore } from '../cli/petstore.ts'
import { serve } from '../cli/running-petstore.ts'
import { freePort } from '../support/free-port.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: TestDatabase
let key: string
beforeAll(async () => {
  database = await createDatabase()
  key = await stockUp(database.url)
})
afterAll(() => database.drop())

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

describe('petstore serve --processes', () => {
  test('serves from that many processes, restarts one that dies, and stops cleanly', async () => {
    const env = { DATABASE_URL: database.url, LOG_FORMAT: 'json' }
    const service = await serve(['--processes', '3', '--port', String(freePort())], { cwd: '/', env })
    await until(() => service.output().split('"listening"').length === 4)
    const first = childrenOf(service.program.pid)
    expect(first).toHaveLength(3)
    // A closed terminal.
    service.program.kill('SIGHUP')
    await Bun.sleep(100)
    expect(childrenOf(service.program.pid)).toEqual(first)
    const [victim = 0] = first
    process.kill(victim, 'SIGKILL')
    await until(() => {
      const now = childrenOf(service.program.pid)
      return now.length === 3 && !now.includes(victim)
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.call('/inventory', key)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const processes = childrenOf(service.program.pid)
    expect(await service.stop()).toBe(0)
    for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow()
    // The lines of the supervisor are JSON as well.
    const lines = service.output().trimEnd().split('\n')
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(told).toContainEqual({
      time: expect.any(String),
      level: 'warn',
      message: 'a worker process ended; restarting it',
      process: expect.any(Number),
      pid: victim,
      ended: 'SIGKILL',
    })
    expect(await service.errors()).toBe('')
  })

  test('ends with its supervisor, even if that is killed', async () => {
    const service = await serve(['--processes', '2', '--port', String(freePort())], {
      cwd: '/',
      env: { DATABASE_URL: database.url },
    })
    const processes = childrenOf(service.program.pid)
    service.program.kill('SIGKILL')
    const isAlive = (pid: number) => {
      try {
        process.kill(pid, 0)
        return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
      } catch {
        return false
      }
    }
    await until(() => !processes.some(isAlive))
  })

  test('fails if a process cannot start', async () => {
    const outcome = await petstore(['serve', '--processes', '2', '--tls-cert', '/no', '--tls-key', '/no'], {
      env: { DATABASE_URL: database.url },
    })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('/no')
  })

  test('a SIGTERM while the processes start is no failure', async () => {
    const program = startPetstore(['serve', '--port', String(freePort()), '--processes', '2'], {
      env: { DATABASE_URL: database.url },
    })
    await until(() => childrenOf(program.pid).length === 2)
    const starting = childrenOf(program.pid)
    for (const pid of starting) process.kill(pid, 'SIGSTOP')
    program.kill('SIGTERM')
    for (const pid of starting) process.kill(pid, 'SIGCONT')
    expect([await program.exited, await new Response(program.stderr).text()]).toEqual([0, ''])
  })

  test('a SIGTERM during the pause before a restart is no failure', async () => {
    const service = await serve(['--processes', '2', '--port', String(freePort())], {
      cwd: '/',
      env: { DATABASE_URL: database.url },
    })
    const [survivor, first = 0] = childrenOf(service.program.pid)
    // The pause doubles with each kill, to 1.6 s.
    for (let victim = first, kills = 1; ; kills++) {
      process.kill(victim, 'SIGKILL')
      await until(() => service.output().split('restarting it').length > kills)
      if (kills === 5) break
      const newcomer = () => childrenOf(service.program.pid).find((pid) => pid !== survivor && pid !== victim)
      await until(() => newcomer() !== undefined)
      victim = newcomer() ?? 0
    }
    expect(await service.stop()).toBe(0)
  })

  test('does not print the password of the database', async () => {
    const url = database.url.replace('postgres@', 'postgres:geheim-wort@')
    const service = await serve([], { cwd: '/', env: { DATABASE_URL: url, LOG_FORMAT: 'json' } })
    expect(await service.stop()).toBe(0)
    expect(service.output()).toContain('postgres:***@')
    expect(service.output()).not.toContain('geheim-wort')
    const nowhere = url.replace(/:\d+\//, ':1/')
    const outcome = await petstore(['keys', 'list', '--database-url', nowhere])
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('postgres:***@')
    expect(outcome.stdout + outcome.stderr).not.toContain('geheim-wort')
    const wrong = await petstore(['keys', 'list', '--database-url', 'postgresx://u:geheim-wort@h/d'])
    expect(wrong.stderr).toContain('must be of the form')
    expect(wrong.stderr).not.toContain('geheim-wort')
  })
})
