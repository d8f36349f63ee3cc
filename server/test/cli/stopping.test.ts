import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { RawConnection } from '../support/raw-connection.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { serve } from './running-petstore.ts'

setDefaultTimeout(120_000)

const KEY = 'pst_demo_enterprise'
let cwd: string
beforeEach(() => {
  cwd = temporaryFolder()
})

/** A stopping service closes idle connections after a second without requests. Timers may fire a little early. */
const QUIET_MS = 900

/** Sets a pet to the quantities 1, 2, 3 … on one connection, until a response closes it. */
async function updateUntilClosed(address: string, petId: number, onAcknowledged: () => void) {
  const connection = await RawConnection.open(address)
  let sent = 0
  let acknowledged = 0
  for (let previousSentAt: number | undefined; ; ) {
    const sentAt = performance.now()
    connection.sendRequest('PATCH', `/v1/inventory/${petId}`, KEY, `{"quantity": ${++sent}}`)
    const answer = await connection.answer()
    if (answer === undefined) {
      // If a busy machine stops this process for a second, the service closes the connection as idle.
      expect(performance.now() - (previousSentAt ?? sentAt)).toBeGreaterThan(QUIET_MS)
      return { petId, acknowledged }
    }
    previousSentAt = sentAt
    expect([answer.status, JSON.parse(answer.body).quantity]).toEqual([200, sent])
    acknowledged = sent
    onAcknowledged()
    if (/^connection: close$/im.test(answer.head)) {
      expect(await connection.answer()).toBeUndefined()
      return { petId, acknowledged }
    }
  }
}

/** Starts an update with an incomplete body, and returns once the service waits for the rest of the body. */
async function beginUpdate(address: string, key: string, body: string, contentLength = body.length + 1) {
  const connection = await RawConnection.open(address)
  await connection.sendHead('PATCH', '/v1/inventory/1', key, contentLength)
  connection.send(body)
  return connection
}

/** Waits until the service accepts no new connections: it has then handled the signal. */
async function untilRefusing(address: string): Promise<void> {
  await until(() =>
    RawConnection.open(address).then(
      (connection) => {
        connection.end()
        return false
      },
      () => true,
    ),
  )
}

const TICK_MS = 100

/** The duration of the work, as the timers of this process see it: they fire once after a stall, however long it was. */
async function ticksDuring(work: Promise<unknown>): Promise<number> {
  let ticks = 0
  const timer = setInterval(() => ticks++, TICK_MS)
  await work
  clearInterval(timer)
  return ticks
}

describe('petstore serve, when stopped', () => {
  test('under load it loses no acknowledged update and cuts no busy connection off', async () => {
    const { address, stop } = await serve(['--demo'], { cwd })
    let total = 0
    const updating = Array.from({ length: 12 }, (_, index) =>
      updateUntilClosed(address, index + 1, () => total++),
    )
    await until(() => total > 500)
    expect(await stop()).toBe(0)

    const database = new Database(join(cwd, 'data/demo.db'), { readonly: true })
    const stored = database.query<{ quantity: number }, [number]>(
      'SELECT quantity FROM stock WHERE pet_id = ?',
    )
    const changes = database.query<{ after: number }, [number]>(
      "SELECT after FROM log WHERE kind = 'change' AND pet_id = ? ORDER BY id",
    )
    for (const { petId, acknowledged } of await Promise.all(updating)) {
      expect(stored.get(petId)?.quantity).toBe(acknowledged)
      expect(changes.all(petId).at(-1)?.after).toBe(acknowledged)
    }
    database.close()
  })

  test('a second signal ends it at once with exit code 1', async () => {
    const { address, program } = await serve(['--demo'], { cwd })
    await beginUpdate(address, KEY, '{"quan', 50)
    program.kill('SIGTERM')
    await untilRefusing(address)
    expect(program.exitCode).toBeNull()
    // A signal right after the first one counts as the same signal, so one of these is the second.
    await until(() => {
      program.kill('SIGINT')
      return program.exitCode !== null
    })
    expect(await program.exited).toBe(1)
  })

  test('two signals at once, as with Ctrl-C under npm, count as one', async () => {
    const { program } = await serve(['--demo'], { cwd })
    program.kill('SIGINT')
    program.kill('SIGINT')
    expect(await program.exited).toBe(0)
  })
})

describe('a service that stops', () => {
  test('aborts an endless request after the grace period, and saves the limits', async () => {
    const service = await TestService.start({
      stopGraceMs: 1_000,
      connectionLimits: { requestTimeoutSeconds: 600 },
    })
    const { secret } = await service.createKey('free')
    const remaining = async () => {
      const answer = await service.call('GET', '/inventory', { key: secret })
      return answer.headers.get('X-RateLimit-Remaining')
    }
    expect(await remaining()).toBe('59')
    await beginUpdate(service.address, service.key, '{"quan', 50)
    // Without the grace period it would exceed the timeout of the test.
    const began = performance.now()
    await service.halt()
    expect(performance.now() - began).toBeGreaterThan(900)
    await service.resume()
    expect(await remaining()).toBe('58')
    await service.stop()
  })

  test('takes no longer if a webhook receiver does not respond either', async () => {
    const service = await TestService.start({
      realTime: true,
      settings: { webhookPrivateAddresses: 'on' },
      stopGraceMs: 50 * TICK_MS,
      connectionLimits: { requestTimeoutSeconds: 600 },
    })
    const receiver = new WebhookReceiver()
    receiver.reply = () => new Promise<Response>(() => {})
    const webhook = { url: receiver.url, kinds: ['stock.changed'] }
    expect((await service.send('POST', '/webhooks', webhook)).status).toBe(201)
    await service.setQuantity(1n, '{"quantity": 1234}')
    await until(() => receiver.all.length > 0)
    await beginUpdate(service.address, service.key, '{"quan', 50)
    // Two grace periods in a row would be 100 ticks.
    expect(await ticksDuring(service.stop())).toBeLessThan(80)
  })
})
