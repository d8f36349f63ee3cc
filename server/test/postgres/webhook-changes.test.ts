import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { signed, WebhookReceiver } from '../support/webhook-receiver.ts'
import { startInstances, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: TestDatabase
let key: string
let instances: Awaited<ReturnType<typeof startInstances>>
const receiver = new WebhookReceiver()
const control = new WebhookReceiver()
beforeAll(async () => {
  database = await createDatabase()
  key = await stockUp(database.url)
  instances = await startInstances(database.url, 2, { WEBHOOK_PRIVATE_ADDRESSES: 'on' })
})
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.stop()))
  await Promise.all([receiver.stop(), control.stop()])
  await database.drop()
})

type Instance = (typeof instances)[number]

async function call({ address }: Instance, method: string, path: string, body?: object) {
  const answer = await fetch(`${address}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(answer.ok).toBe(true)
  return answer.status === 204 ? undefined : answer.json()
}

let quantity = 0
const changePet = (instance: Instance, petId: number) =>
  call(instance, 'PATCH', `/inventory/${petId}`, { quantity: ++quantity })

const settled = (instance: Instance, id: number) =>
  until(async () => (await call(instance, 'GET', `/webhooks/${id}`)).behind.events === 0)

/** Makes a change while the first of two deliveries of a pet is in flight, so that the second starts after the answer. */
async function duringDelivery<T>(instance: Instance, id: number, change: () => Promise<T>): Promise<T> {
  await settled(instance, id)
  const answered = Promise.withResolvers<void>()
  const before = receiver.all.length
  receiver.reply = async () => {
    await answered.promise
    return new Response(null, { status: 204 })
  }
  await changePet(instance, 1)
  await changePet(instance, 1)
  await until(() => receiver.all.length > before)
  const result = await change()
  receiver.all.length = 0
  receiver.reply = () => new Response(null, { status: 204 })
  answered.resolve()
  return result
}

// One instance delivers for the webhook. Each of them makes the changes once, so the other instance makes them as well.
test.each([0, 1])('attempts obey every change from its answer on, made by instance %i', async (index) => {
  const instance = instances[index]
  if (instance === undefined) throw new Error('there are two instances')
  const kinds = ['stock.changed']
  const controlHook = await call(instance, 'POST', '/webhooks', { url: control.url, kinds })
  const { id, secret } = await call(instance, 'POST', '/webhooks', { url: receiver.url, kinds })
  /** Waits until a webhook with the same backlog has caught up. */
  const controlSettled = async () => {
    const after = (await changePet(instance, 2)).quantity
    await until(() => control.all.some(({ data }) => data.after === after))
  }

  const rotated = await duringDelivery(instance, id, () =>
    call(instance, 'POST', `/webhooks/${id}/rotate-secret`),
  )
  await settled(instance, id)
  expect(receiver.all.length).toBeGreaterThan(0)
  for (const delivery of receiver.all) {
    expect(delivery.signatures).toEqual([signed(delivery, rotated.secret), signed(delivery, secret)])
  }

  await duringDelivery(instance, id, () => call(instance, 'PATCH', `/webhooks/${id}`, { paused: true }))
  await controlSettled()
  expect(receiver.all).toEqual([])

  const url = `${receiver.url}/moved`
  await call(instance, 'PATCH', `/webhooks/${id}`, { paused: false })
  await duringDelivery(instance, id, () => call(instance, 'PATCH', `/webhooks/${id}`, { url }))
  await settled(instance, id)
  expect(new Set(receiver.all.map(({ path }) => path))).toEqual(new Set(['/hook/moved']))

  await duringDelivery(instance, id, () =>
    call(instance, 'PATCH', `/webhooks/${id}`, { kinds: ['pet.removed'] }),
  )
  await controlSettled()
  expect(receiver.all).toEqual([])

  await call(instance, 'PATCH', `/webhooks/${id}`, { kinds })
  await duringDelivery(instance, id, () => call(instance, 'DELETE', `/webhooks/${id}`))
  await controlSettled()
  expect(receiver.all).toEqual([])
  await call(instance, 'DELETE', `/webhooks/${controlHook.id}`)
})
