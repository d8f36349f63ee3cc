import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { verifyWebhook } from '../../../client/src/index.ts'
import { receiveWebhooks } from '../../../client/test/support/webhook-receiver.ts'
import { findWebhookProblem } from '../../src/cli/commands/webhooks.ts'
import type { WebhookProgress } from '../../src/core/webhooks/webhook.ts'
import type { WebhookLag } from '../../src/core/webhooks/webhook-store.ts'
import { TestService } from '../support/test-service.ts'
import { petstore } from './petstore.ts'

setDefaultTimeout(120_000)

const receiver = receiveWebhooks()
let service: TestService
beforeAll(async () => {
  const settings = { webhookPrivateAddresses: 'on' }
  service = await TestService.start({ realTime: true, onPostgres: false, settings })
})
afterAll(async () => {
  await service.stop()
  await receiver.stop()
})

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  petstore(['webhooks', ...args], { env: { DATABASE_URL: `sqlite:${service.databasePath}`, ...env } })

async function caughtUp(): Promise<void> {
  for (;;) {
    const [state] = await service.store.listWebhooks()
    if (state?.lag.events === 0) return
    await Bun.sleep(20)
  }
}

describe('petstore webhooks, while a service runs', () => {
  let id = ''

  test('create rejects an address that the service would reject, and an unknown kind', async () => {
    const refused = await run(['create', '--url', receiver.url, '--kinds', 'all'])
    expect([refused.exitCode, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toBe('petstore: --url must begin with https://\n')
    for (const kinds of ['stock.sung', 'none', '']) {
      const { exitCode, stderr } = await run(['create', '--url', 'https://shop.example', '--kinds', kinds])
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining('--kinds must be all or a comma-separated list of stock.'),
      ])
    }
    expect(await service.store.listWebhooks()).toEqual([])
  })

  test('create makes no webhook if its secret cannot be printed', async () => {
    const args = ['webhooks', 'create', '--url', receiver.url, '--kinds', 'all']
    const env = { DATABASE_URL: `sqlite:${service.databasePath}`, WEBHOOK_PRIVATE_ADDRESSES: 'on' }
    const through = ['/bin/sh', '-c', 'exec "$@" > /dev/full', 'sh']
    const { exitCode, stderr } = await petstore(args, { env, through })
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^petstore: the secret cannot be written .*ENOSPC.*; nothing was changed\n$/),
    ])
    expect(await service.store.listWebhooks()).toEqual([])
  })

  test('create prints the signing secret, alone on standard output', async () => {
    const { exitCode, stdout, stderr } = await run(
      ['create', '--url', receiver.url, '--kinds', 'stock.changed,stock.low'],
      { WEBHOOK_PRIVATE_ADDRESSES: 'on' },
    )
    id = /webhook (\d+) \(stock\.changed,stock\.low\)/.exec(stderr)?.[1] ?? ''
    expect([exitCode, id]).toEqual([0, expect.stringMatching(/^\d{10}$/)])
    await service.setQuantity(1n, '{"quantity":9}')
    await service.setQuantity(2n, '{"quantity":9}')
    for (const { headers, body } of await receiver.atLeast(2)) {
      const { type } = await verifyWebhook(headers, body, stdout.trim())
      expect(type).toBe('stock.changed')
    }
  })

  test('list and deliveries show the state, and never the secret', async () => {
    await caughtUp()
    const [webhook] = JSON.parse((await run(['list', '--json'])).stdout)
    expect(webhook).toEqual({
      id: Number(id),
      url: receiver.url,
      kinds: ['stock.changed', 'stock.low'],
      paused: false,
      state: 'on',
      createdAt: expect.stringMatching(/Z$/),
      behind: { events: 0, since: null },
      failingSince: null,
      retryAt: null,
      offAt: null,
      offReason: null,
    })
    const { stdout } = await run(['list'])
    expect(stdout).toMatch(
      new RegExp(`^ID .*\\n${id}  on     0       -      .{16}  stock.changed,stock.low  ${receiver.url}\\n$`),
    )
    const deliveries = (await run(['deliveries', id])).stdout
    expect(deliveries.match(/ stock\.changed +1 {2}204 +\d+ {2}evt_\d+_[0-9a-f]+ {2}-\n/g)).toHaveLength(2)
  })

  test('deliveries refuses a limit above the number of kept deliveries', async () => {
    const { exitCode, stderr } = await run(['deliveries', id, '--limit', '1001'])
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('--limit must be a whole number from 1 to 1000, got "1001"'),
    ])
  })

  test('test sends a test event and fails if the receiver does not accept it', async () => {
    const { exitCode, stdout } = await run(['test', id], { WEBHOOK_PRIVATE_ADDRESSES: 'on' })
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/accepted the test event: 204\n$/)])
    const test = receiver.taken.pop()
    expect(JSON.parse(test?.body ?? '')).toMatchObject({
      type: 'webhook.test',
      data: { webhookId: Number(id), test: true },
    })
    const refused = await run(['test', id])
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      `petstore: webhook ${id} did not accept the test event: the url must begin with https://\n`,
    ])
  })

  test('replay prints the number of events, which are sent with their original ids', async () => {
    const ids = receiver.taken.map(({ headers }) => headers.get('webhook-id'))
    const { exitCode, stdout } = await run(['replay', id, '--from', '1h'])
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^Webhook \d+ in .*\.db continues from .*: 2 events will/),
    ])
    const again = (await receiver.atLeast(4)).slice(2).map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(again)).toEqual(new Set(ids))
    await caughtUp()
  })

  test('pause keeps its offset, replay does not skip due events, resume continues', async () => {
    expect((await run(['pause', id])).stdout).toContain(`Paused webhook ${id} in `)
    await service.setQuantity(1n, '{"quantity":8}')
    const skipping = await run(['replay', id, '--from', '0s'])
    expect([skipping.exitCode, skipping.stderr]).toEqual([
      1,
      expect.stringContaining('has only sent the events before'),
    ])
    expect(await service.store.listWebhooks()).toMatchObject([
      { webhook: { paused: true }, lag: { events: 1 } },
    ])
    expect((await run(['resume', id])).stdout).toEndWith(
      '.db was paused and continues from its position, 1 event behind.\n',
    )
    expect(JSON.parse((await receiver.atLeast(5))[4]?.body ?? '')).toMatchObject({ data: { after: 8 } })
  })

  test('doctor names a webhook that was turned off, and resume turns it on', async () => {
    await caughtUp()
    receiver.status.now = 410
    await service.setQuantity(1n, '{"quantity":7}')
    for (;;) {
      const [state] = await service.store.listWebhooks()
      if (state?.webhook.progress.off !== undefined) break
      await Bun.sleep(20)
    }
    const { exitCode, stdout } = await petstore(['doctor'], {
      env: { DATABASE_URL: `sqlite:${service.databasePath}` },
    })
    expect(stdout).toMatch(
      /! webhook \d+ \(127\.0\.0\.1:\d+\) was turned off at .*: the receiver answered 410 Gone\n/,
    )
    expect(stdout).toContain(`from the same position: petstore webhooks resume ${id}`)
    expect(exitCode).toBe(0)
    receiver.status.now = 204
    await run(['resume', id])
    expect(JSON.parse((await receiver.atLeast(7))[6]?.body ?? '')).toMatchObject({ data: { after: 7 } })
  })

  test('replay of a paused webhook whose position was pruned makes it send a relist', async () => {
    await caughtUp()
    await run(['pause', id])
    for (const quantity of [20, 21, 22]) await service.setQuantity(1n, `{"quantity":${quantity}}`)
    await service.store.pruneHistory({ keep: 1 }, 1_000)
    const { exitCode, stdout } = await run(['replay', id, '--from', '1h'])
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(
        /were pruned .* will send a relist instead.* The webhook is paused\. To continue: petstore webhooks resume/,
      ),
    ])
    const count = receiver.taken.length
    await run(['resume', id])
    expect(JSON.parse((await receiver.atLeast(count + 1))[count]?.body ?? '')).toMatchObject({
      type: 'relist',
    })
    await caughtUp()
  })

  test('remove asks, or accepts --yes; an unknown webhook is reported', async () => {
    expect((await run(['remove', id])).exitCode).toBe(2)
    expect((await run(['remove', id, '--yes'])).stdout).toStartWith(
      `Removed webhook ${id} (${receiver.url}) from `,
    )
    const gone = await run(['pause', id])
    expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining(`there is no webhook ${id}`)])
  })
})

describe('what doctor reports about a webhook', () => {
  const NOW = Date.UTC(2026, 10, 16, 12)
  const trouble = (lag: Partial<WebhookLag>, progress: Partial<WebhookProgress> = {}, paused = false) =>
    findWebhookProblem(
      {
        webhook: {
          id: 7n,
          url: 'https://shop.example/secret',
          kinds: ['stock.low'],
          paused,
          createdAt: 0,
          secret: 'whsec_',
          revision: 1,
          progress: { cursor: '', ...progress },
        },
        lag: { events: 0, since: undefined, ...lag },
      },
      NOW,
    )
  const minutesAgo = (minutes: number) => NOW - minutes * 60_000

  test('nothing, while it is at most 5 minutes and 10,000 events behind', () => {
    expect(trouble({})).toBeUndefined()
    expect(trouble({ events: 10_000, since: minutesAgo(5) })).toBeUndefined()
    expect(trouble({ events: 1 })).toBeUndefined()
  })

  test('how far it is behind, why, and what to do; never its full address', () => {
    expect(trouble({ events: 10_001, since: minutesAgo(1) })).toEqual({
      text: 'webhook 7 (shop.example) is 10,001 events behind, since 2026-11-16 11:59',
      advice: expect.stringContaining('start petstore serve'),
    })
    const failure = { since: minutesAgo(9), attempts: 3, retryAt: NOW }
    expect(trouble({ events: 1, since: minutesAgo(10) }, { failure })).toEqual({
      text: 'webhook 7 (shop.example) is 1 event behind, since 2026-11-16 11:50; it has failed since 2026-11-16 11:51',
      advice: expect.stringContaining('petstore webhooks deliveries 7 shows the reason'),
    })
    expect(trouble({ events: 1, since: minutesAgo(6) }, {}, true)).toMatchObject({
      text: expect.stringContaining('it is paused'),
      advice: 'to continue: petstore webhooks resume 7',
    })
  })
})
