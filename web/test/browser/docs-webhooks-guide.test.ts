import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { PetstoreClient } from '@petstore/client'
import { ROOT, run } from '../../../client/test/support/built-client.ts'
import { startReceiver } from '../../../client/test/support/receiver-process.ts'
import { freePort } from '../../../server/test/support/free-port.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import { createSamples, receiverSamples } from '../../src/docs-page/guides/webhooks-samples.ts'
import { KEY_PLACEHOLDER } from '../../src/docs-page/samples/request-samples.ts'
import { printed } from '../support/printed-sample.ts'

/** Where the client resolves by its name, and git does not look. */
const FOLDER = join(ROOT, 'client/dist')
const TOOLS = {
  client: { program: process.execPath, file: join(FOLDER, 'guide-receiver.ts') },
  python: { program: 'python3', file: join(FOLDER, 'guide-receiver.py') },
} as const

describe('the samples of the guide on webhooks run as they stand', () => {
  let service: TestService
  let client: PetstoreClient
  beforeAll(async () => {
    service = await TestService.start({ realTime: true, settings: { webhookPrivateAddresses: 'on' } })
    client = new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: service.key })
  })
  afterAll(async () => {
    await service.stop()
    for (const { file } of Object.values(TOOLS)) rmSync(file, { force: true })
  })

  const codeOf = (samples: ReturnType<typeof createSamples>, id: string) =>
    samples.find((sample) => sample.id === id)?.code.replaceAll(KEY_PLACEHOLDER, service.key) ?? ''

  for (const id of ['client', 'python'] as const) {
    const { program, file } = TOOLS[id]
    test.skipIf(Bun.which(program) === null)(
      `a receiver in ${id} takes real deliveries, reads the list on a relist, and refuses others`,
      async () => {
        await Bun.write(file, codeOf(receiverSamples(`${service.address}/v1`), id))
        const port = freePort()
        const url = `http://127.0.0.1:${port}/`
        const webhook = await client.webhooks.create({ url, kinds: ['stock.changed', 'pet.removed'] })
        const pet = await client.pets.create({ name: 'Gone soon', categoryId: 1n, id: 77n })
        const receiver = await startReceiver([program, file], port, `whsec_b2xk ${webhook.secret}`)
        try {
          await client.inventory.set(9007199254740993n, { quantity: 40 })
          await client.inventory.set(9007199254740993n, { quantity: 41 })
          const changes = ['stock.changed: 9007199254740993,40', 'stock.changed: 9007199254740993,41']
          expect(await receiver.lines(2)).toEqual(changes)
          await client.pets.remove(pet.id)
          const removed = 'pet.removed: 9007199254740993,41'
          expect(await receiver.lines(3)).toEqual([...changes, removed])
          // A place of another database.
          await service.store.changeStock([
            {
              type: 'move_webhook',
              webhookId: webhook.id,
              cursor: '0.dead',
              keyId: 'petstore',
              at: Date.now(),
            },
          ])
          const all = (await client.inventory.list()).items.map(
            ({ petId, quantity }) => `${petId},${quantity}`,
          )
          expect((await receiver.lines(4)).at(-1)).toBe(`relist: ${all.join(' ')}`)
          const answers = await Promise.all([
            fetch(url, { method: 'POST', body: '{"type":"pet.removed","data":{"petId":1}}' }),
            fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-timestamp': 'x' } }),
          ])
          expect(answers.map(({ status }) => status)).toEqual([400, 400])
        } finally {
          await receiver.stop()
          await client.webhooks.remove(webhook.id)
        }
      },
      60_000,
    )
  }

  test('a webhook is made with the client and with curl', async () => {
    const samples = createSamples(`${service.address}/v1`)
    await printed(codeOf(samples, 'client'), false)
    await run(['sh', '-c', `${codeOf(samples, 'curl')} --silent --fail`])
    const { items: made } = await client.webhooks.list()
    expect(made.map(({ url, kinds }) => [url, kinds.length])).toEqual(
      Array.from({ length: Bun.which('curl') === null ? 1 : 2 }, () => [
        'https://shop.example/hooks/stock',
        2,
      ]),
    )
  })
})
