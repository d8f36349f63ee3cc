import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { petstore } from './petstore.ts'
import { runCommand } from './run-command.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ realTime: true })
})
afterAll(() => service.stop())

const onService = (args: readonly string[]) => [...args, '--database-url', `sqlite:${service.databasePath}`]
const cli = (...args: string[]) => runCommand(onService(args))
const cliAsProcess = (...args: string[]) => petstore(onService(args))
const list = (key: string) => service.call('GET', '/inventory', { key })

describe('keys, while the service runs', () => {
  test('a created key works, a revoked one no longer', async () => {
    const key = (await cliAsProcess('keys', 'create', '--name', 'live', '--plan', 'free')).stdout.trim()
    await until(async () => (await list(key)).status === 200)
    await cliAsProcess('keys', 'revoke', 'live', '--yes')
    await until(async () => (await list(key)).status === 401)
    expect((await list(key)).error.message).toContain('revoked')
  })

  test('a key without permissions can read, and its updates are 403', async () => {
    const made = await cli('keys', 'create', '--name', 'viewer', '--plan', 'free', '--may', 'none')
    const key = made.stdout.trim()
    expect((await list(key)).status).toBe(200)
    const before = await service.contents()
    const refused = await service.setQuantity(1n, '{"quantity": 99}', { key })
    expect([refused.status, refused.error.code]).toEqual([403, 'forbidden'])
    expect((await service.setQuantity(1n, 'broken', { key })).status).toBe(403)
    expect(await service.contents()).toEqual(before)
  })

  test('a banned key is listed as banned', async () => {
    const args = ['--plan', 'enterprise', '--per-minute', '3', '--per-day', '1000']
    const key = (await cli('keys', 'create', '--name', 'eager', ...args)).stdout.trim()
    await until(async () => (await list(key)).error.code === 'key_banned')
    await until(async () => (await cli('keys', 'list')).stdout.includes('banned until'))
  })

  test('the secret appears in no table and no output except the one that prints it', async () => {
    const key = (await cli('keys', 'create', '--name', 'quiet', '--plan', 'free')).stdout.trim()
    await list(key)
    await Bun.sleep(100)
    const outputs = await Promise.all([cli('keys', 'list', '--json'), cli('keys', 'list')])
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(key)
    for (const file of ['', '-wal']) {
      expect(Buffer.from(await Bun.file(service.databasePath + file).arrayBuffer()).includes(key)).toBe(false)
    }
  })
})
