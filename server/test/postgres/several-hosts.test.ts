import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { petstore } from '../cli/petstore.ts'
import { serve } from '../cli/running-petstore.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

describe('if one host of DATABASE_URL is a standby and the other refuses connections, each is named with its problem', () => {
  let primary: PostgresServer
  let standby: PostgresServer
  let service: Awaited<ReturnType<typeof serve>>
  let env: { DATABASE_URL: string }
  beforeAll(async () => {
    primary = await PostgresServer.start()
    await stockUp(primary.url())
    standby = await primary.startStandby()
    env = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`,
    }
    service = await serve([], { cwd: '/', env })
    await primary.stopAtOnce()
  })
  afterAll(async () => {
    await service.stop()
    await standby.end()
    await primary.end()
  })

  const bothProblems = () =>
    expect.stringContaining(
      `127.0.0.1:${primary.port}: nothing listens there (the port is closed); 127.0.0.1:${standby.port}: the database is read-only`,
    )

  test('by /readyz', async () => {
    const ready = async () => {
      const response = await fetch(`${service.address}/readyz`)
      return [response.status, await response.text()] as const
    }
    await until(async () => (await ready())[1].includes('nothing listens there'))
    expect(await ready()).toEqual([503, bothProblems()])
  })

  test('by petstore check', async () => {
    const { exitCode, stdout } = await petstore(['check'], { env })
    expect([exitCode, stdout]).toEqual([1, bothProblems()])
  })

  test('by a start, which fails in one line', async () => {
    const { exitCode, stderr } = await petstore(['serve', '--port', '0'], { env })
    expect([exitCode, stderr]).toEqual([1, bothProblems()])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
