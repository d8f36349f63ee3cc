import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { PetstoreClient } from '@petstore/client'
import { ROOT, run } from '../../../client/test/support/built-client.ts'
import { startReceiver } from '../../../client/test/support/receiver-process.ts'
import { freePort } from '../../../server/test/support/free-port.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import { guideSample, LANGUAGES, testWith } from '../support/guide-samples.ts'
import { printed } from '../support/printed-sample.ts'
import { PYTHON_CLIENT, usePython } from '../support/python-samples.ts'

/** The client can be imported by its name from here, and git ignores the folder. */
const FOLDER = join(ROOT, 'client/dist')
const TOOLS = {
  typescript: { program: process.execPath, file: join(FOLDER, 'guide-receiver.ts') },
  python: { program: 'python3', file: join(FOLDER, 'guide-receiver.py') },
} as const

describe('every sample of the guide on webhooks runs', () => {
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

  const inPython = usePython()

  for (const id of ['typescript', 'python'] as const) {
    const { program, file } = TOOLS[id]
    test.skipIf(Bun.which(program) === null)(
      `a receiver in ${id} accepts real deliveries, reads the list on a relist, and rejects others`,
      async () => {
        await Bun.write(
          file,
          await guideSample(service, { guide: 'webhooks', title: 'Receive deliveries', language: id }),
        )
        const port = freePort()
        const url = `http://127.0.0.1:${port}/`
        const webhook = await client.webhooks.create({ url, kinds: ['stock.changed', 'pet.removed'] })
        const pet = await client.pets.create({ name: 'Gone soon', categoryId: 1n, id: 77n })
        const receiver = await startReceiver(
          ['env', `PYTHONPATH=${PYTHON_CLIENT}`, program, file],
          port,
          `whsec_b2xk ${webhook.secret}`,
        )
        try {
          await client.inventory.set(9007199254740993n, { quantity: 40 })
          await client.inventory.set(9007199254740993n, { quantity: 41 })
          const changes = ['stock.changed: 9007199254740993,40', 'stock.changed: 9007199254740993,41']
          expect(await receiver.lines(2)).toEqual(changes)
          await client.pets.remove(pet.id)
          const removed = 'pet.removed: 9007199254740993,41'
          expect(await receiver.lines(3)).toEqual([...changes, removed])
          // A position in the log of another database.
          await service.store.changeStock([
            {
              type: 'replay_webhook',
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

  for (const language of LANGUAGES) {
    testWith(language, `a webhook is created with ${language}`, async () => {
      const code = await guideSample(service, { guide: 'webhooks', title: 'Create a webhook', language })
      if (language === 'typescript') await printed(code, false)
      else if (language === 'python') await inPython(code)
      else await run(['sh', '-c', `${code} --silent --fail`])
      const [webhook, ...others] = (await client.webhooks.list()).items
      expect(webhook).toMatchObject({
        url: 'https://shop.example/hooks/stock',
        kinds: ['stock.changed', 'pet.removed'],
      })
      expect(others).toEqual([])
      if (webhook !== undefined) await client.webhooks.remove(webhook.id)
    })
  }
})
