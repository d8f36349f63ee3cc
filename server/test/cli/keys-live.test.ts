import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { runCommand } from './run-command.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ realTime: true })
})
afterAll(() => service.stop())

const cli = (...args: string[]) => runCommand([...args, '--database-url', `sqlite:${service.databasePath}`])
const list = (key: string) => service.call('GET', '/inventory', { key })

describe('keys, while the service runs', () => {
  test('a created key works, a revoked one no longer', async () => {
    const key = (await cli('keys', 'create', '--name', 'live', '--plan', 'free')).stdout.trim()
    await until(async () => (await list(key)).status === 200)
    await cli('keys', 'revoke', 'live', '--yes')
    await until(async () => (await list(key)).status === 401)
    expect((await list(key)).error.message).toContain('revoked')
  })

  test('a banned key is listed as banned', async () => {
    const args = ['--plan', 'enterprise', '--per-minute', '3', '--per-day', '1000']
    const key = (await cli('keys', 'create', '--name', 'eager', ...args)).stdout.trim()
    await until(async () => (await list(key)).error.code === 'key_banned')
    await until(async () => (await cli('keys', 'list')).stdout.includes('banned until'))
  })
})
