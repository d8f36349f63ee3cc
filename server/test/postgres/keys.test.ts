import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PERMISSIONS } from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { operatorOf } from '../support/operator.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { startInstances, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: TestDatabase
let owner: string
let instances: Awaited<ReturnType<typeof startInstances>>
beforeAll(async () => {
  database = await createDatabase()
  owner = await stockUp(database.url)
  instances = await startInstances(database.url, 2)
})
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.stop()))
  await database.drop()
})

async function send(instance: number, method: string, path: string, key: string, body?: object) {
  const response = await fetch(`${instances[instance]?.address}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
}

describe('keys of two instances on one PostgreSQL', () => {
  test('a change on one instance takes effect at once there, and soon on the other', async () => {
    const { json } = await send(0, 'POST', '/keys', owner, { name: 'Anna', plan: 'free' })
    const { key, secret } = json
    for (const instance of [0, 1]) expect((await send(instance, 'GET', '/limits', secret)).status).toBe(200)
    await send(0, 'PATCH', `/keys/${key.id}`, owner, { paused: true })
    expect((await send(0, 'GET', '/limits', secret)).status).toBe(401)
    await until(async () => (await send(1, 'GET', '/limits', secret)).status === 401)
    await send(1, 'PATCH', `/keys/${key.id}`, owner, { paused: false })
    expect((await send(1, 'GET', '/limits', secret)).status).toBe(200)
    await until(async () => (await send(0, 'GET', '/limits', secret)).status === 200)
  })

  test('two managers that give up at once on different instances leave one of them', async () => {
    const store = await openStore(database.url, { tables: 'migrate' })
    for (let round = 0; round < 5; round++) {
      const body = { name: 'Carl', plan: 'free', permissions: PERMISSIONS }
      const { json: other } = await send(0, 'POST', '/keys', owner, body)
      const { json: own } = await send(0, 'GET', '/limits', owner)
      const answers = await Promise.all([
        send(0, 'PATCH', `/keys/${own.key.id}`, owner, { permissions: [] }),
        send(1, 'PATCH', `/keys/${other.key.id}`, other.secret, { permissions: [] }),
      ])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
      // The owner manages keys again for the next round.
      await operatorOf(store).changeKey(
        own.key.id,
        { permissions: PERMISSIONS },
        { at: Date.now(), actor: 'test' },
      )
      await operatorOf(store).revokeKey(other.key.id, { at: Date.now(), actor: 'test' })
      await until(async () => (await send(0, 'GET', '/keys', owner)).status === 200)
    }
    await store.close()
  })
})
