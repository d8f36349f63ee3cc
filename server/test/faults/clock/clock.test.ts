import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { operatorOf } from '../../support/operator.ts'
import { ClockShop, resetOf, waitOf } from './clock-shop.ts'

setDefaultTimeout(120_000)

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MINUTE_LIMIT = { perMinute: 3, perDay: 1_000 }
const DAY_LIMIT = { perMinute: 100, perDay: 3 }

describe.each(['sqlite', 'postgres'] as const)('when the clock jumps, on %s', (store) => {
  let shop: ClockShop
  beforeAll(async () => {
    shop = await ClockShop.open({ store })
  })
  afterAll(() => shop.close())

  test('back by an hour, a key over its minute waits no longer than announced', async () => {
    const { secret } = await shop.createKey({ perMinute: 5, perDay: 1_000 })
    expect(waitOf(await shop.listOften(secret, 6))).toBe(60)
    shop.now += 20 * SECOND
    expect(waitOf(await shop.list(secret))).toBe(40)
    shop.now -= HOUR
    const after = await shop.list(secret)
    expect([after.status, waitOf(after)]).toEqual([429, 40])
    expect(resetOf(after)).toBe(shop.now / SECOND + 40)
    shop.now += 40 * SECOND
    expect((await shop.list(secret)).status).toBe(200)
  })

  test('back by an hour, a key over its day waits no longer than announced', async () => {
    const { secret } = await shop.createKey(DAY_LIMIT)
    expect(waitOf(await shop.listOften(secret, 4))).toBe(DAY / SECOND)
    shop.now += 2 * HOUR
    expect(waitOf(await shop.list(secret))).toBe((22 * HOUR) / SECOND)
    shop.now -= HOUR
    const after = await shop.list(secret)
    expect([after.status, waitOf(after)]).toEqual([429, (22 * HOUR) / SECOND])
    shop.now += 22 * HOUR
    expect((await shop.list(secret)).status).toBe(200)
  })

  test('back by an hour, a ban ends at its intended time, also across restarts', async () => {
    const { id, secret } = await shop.createKey(MINUTE_LIMIT)
    expect(waitOf(await shop.provokeBan(secret))).toBe(300)
    shop.now += MINUTE
    await shop.list(secret)
    shop.now -= HOUR
    const after = await shop.list(secret)
    expect([after.error.code, waitOf(after)]).toEqual(['key_banned', 240])
    await shop.restart()
    shop.now += 2 * MINUTE
    await shop.restart()
    const later = await shop.list(secret)
    expect([later.error.code, waitOf(later)]).toEqual(['key_banned', 120])
    shop.now += 2 * MINUTE
    expect((await shop.list(secret)).status).toBe(200)
    await shop.restart()
    expect((await shop.store.findKeyRecord(id))?.banEndsAt).toBeLessThanOrEqual(shop.now)
  })

  test('forward by an hour, the next ban doubles', async () => {
    const { secret } = await shop.createKey(MINUTE_LIMIT)
    await shop.provokeBan(secret)
    shop.now += 5 * MINUTE
    expect((await shop.list(secret)).status).toBe(200)
    shop.now += HOUR
    expect(waitOf(await shop.provokeBan(secret))).toBe(600)
    await shop.restart()
    expect((await shop.list(secret)).error.code).toBe('key_banned')
  })

  test('back by an hour, a minute allows no more than the plan', async () => {
    const { secret } = await shop.createKey(MINUTE_LIMIT)
    await shop.listOften(secret, 2)
    shop.now -= HOUR
    const statuses: number[] = []
    for (let sent = 0; sent < 4; sent++) statuses.push((await shop.list(secret)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  })

  test('back by a day, a caller without a key waits no longer than a minute', async () => {
    await shop.listOften(undefined, 4)
    shop.now -= DAY
    const answer = await shop.listOften(undefined, 4)
    expect(answer.status).toBe(429)
    expect(waitOf(answer)).toBeLessThanOrEqual(60)
    shop.now += waitOf(answer) * SECOND
    expect((await shop.list(undefined)).status).toBe(401)
    shop.now += MINUTE
  })

  test('back by an hour, a key that was revoked or rotated before stays so', async () => {
    const [revoked, rotated] = [await shop.createKey(MINUTE_LIMIT), await shop.createKey(MINUTE_LIMIT)]
    const act = { at: shop.now, actor: 'test' }
    await operatorOf(shop.store).revokeKey(revoked.id, act)
    await operatorOf(shop.store).rotateKey(
      rotated.id,
      { hash: 'other', hint: 'other', createdAt: act.at },
      act.at,
      act,
    )
    shop.now -= HOUR
    expect((await shop.list(revoked.secret)).status).toBe(401)
    expect((await shop.list(rotated.secret)).status).toBe(401)
    shop.now += 2 * HOUR
  })
})

test('on SQLite a key that was idle while the clock was set back waits no longer either', async () => {
  const shop = await ClockShop.open({ store: 'sqlite' })
  const { secret } = await shop.createKey(DAY_LIMIT)
  const { secret: other } = await shop.createKey(MINUTE_LIMIT)
  await shop.listOften(secret, 4)
  shop.now += 12 * HOUR
  await shop.list(other)
  shop.now -= HOUR
  await shop.list(other)
  shop.now += 12 * HOUR
  expect((await shop.list(secret)).status).toBe(200)
  await shop.close()
})

describe('two instances on PostgreSQL whose clocks differ by an hour', () => {
  let shop: ClockShop
  beforeAll(async () => {
    shop = await ClockShop.open({ store: 'postgres', skews: [0, HOUR] })
  })
  afterAll(() => shop.close())

  test('together allow what the plan allows, and report the same', async () => {
    const { secret } = await shop.createKey({ perMinute: 4, perDay: 1_000 })
    const statuses: number[] = []
    for (let sent = 0; sent < 6; sent++) {
      const answer = await shop.list(secret, sent % 2)
      statuses.push(answer.status)
      expect(resetOf(answer)).toBe(shop.now / SECOND + 60)
      if (answer.status === 429) expect(waitOf(answer)).toBe(60)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
    shop.now += MINUTE
    expect([(await shop.list(secret, 1)).status, (await shop.list(secret, 0)).status]).toEqual([200, 200])
  })

  test.each([
    [0, 1],
    [1, 0],
  ])('a ban set by instance %i ends on both at its intended time', async (first, second) => {
    const { secret } = await shop.createKey({ perMinute: 1, perDay: 1_000 })
    expect(waitOf(await shop.provokeBan(secret, first))).toBe(300)
    for (const instance of [second, first, second]) {
      shop.now += MINUTE
      const answer = await shop.list(secret, instance)
      expect(answer.error.code).toBe('key_banned')
    }
    expect(waitOf(await shop.list(secret, second))).toBe(120)
    shop.now += 2 * MINUTE
    expect((await shop.list(secret, second)).status).toBe(200)
  })

  test('report the time of the database, not their own', async () => {
    const real = await ClockShop.open({ store: 'postgres', skews: [-HOUR, HOUR], databaseClock: true })
    real.now = Date.now()
    const { secret } = await real.createKey({ perMinute: 2, perDay: 1_000 })
    for (const instance of [0, 1, 0]) {
      const ahead = resetOf(await real.list(secret, instance)) - Date.now() / SECOND
      expect(ahead).toBeGreaterThan(0)
      expect(ahead).toBeLessThanOrEqual(60)
    }
    expect(waitOf(await real.list(secret, 1))).toBeLessThanOrEqual(300)
    await real.close()
  })
})
