import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Shown, WebhookDesk } from './webhook-desk.ts'

setDefaultTimeout(120_000)

const desk = new WebhookDesk()
const { shown, settled, changePet } = desk

const send = (method: string, path: string, key: string, body?: object) =>
  desk.service.send(method, path, body, { key })

/** A webhook of a new key. */
async function createOwned(): Promise<{ id: number; owner: { id: string; secret: string } }> {
  const owner = await desk.service.createKey('pro')
  const webhook = { url: desk.receiver.url, kinds: ['stock.changed'] }
  const { json } = await send('POST', '/webhooks', owner.secret, webhook)
  expect((json as Shown).createdBy).toBe(owner.id)
  return { id: (json as Shown).id, owner }
}

const HOUR = 3_600_000

interface WireAuditEntry {
  readonly actor: string
  readonly action: string
  readonly detail: string
}

test.each<[string, (keyId: string) => Promise<unknown>, (keyId: string) => Promise<unknown>, string]>([
  [
    'paused',
    (keyId) => desk.sent('PATCH', `/keys/${keyId}`, { paused: true }),
    (keyId) => desk.sent('PATCH', `/keys/${keyId}`, { paused: false }),
    'is paused',
  ],
  [
    'without the permission',
    (keyId) => desk.sent('PATCH', `/keys/${keyId}`, { permissions: ['stock'] }),
    (keyId) => desk.sent('PATCH', `/keys/${keyId}`, { permissions: ['stock', 'webhooks'] }),
    'lacks the permission "webhooks"',
  ],
  [
    'expired',
    async (keyId) => {
      const expiresAt = new Date(desk.service.now + HOUR).toISOString()
      await desk.sent('PATCH', `/keys/${keyId}`, { expiresAt })
      await desk.passTime(HOUR)
    },
    (keyId) => desk.sent('PATCH', `/keys/${keyId}`, { expiresAt: null }),
    'is expired',
  ],
])('a webhook pauses while its key is %s, and continues afterwards', async (_, stop, resume, reason) => {
  const { id, owner } = await createOwned()
  await stop(owner.id)
  expect(await shown(id)).toMatchObject({
    state: 'paused',
    paused: false,
    pauseReason: `its key ${owner.id} ${reason}`,
  })
  const control = await desk.create({
    url: `${desk.receiver.url}/control`,
    kinds: ['pet.changed', 'stock.changed'],
  })
  await desk.sent('PATCH', '/pets/1', { name: `Pet without ${reason}` })
  // The service has noticed it, because the webhook that was created later is served.
  await desk.arrived(1)
  await changePet()
  await settled(control.id)
  expect(new Set(desk.receiver.all.map(({ path }) => path))).toEqual(new Set(['/hook/control']))
  await resume(owner.id)
  await settled(id)
  expect((await shown(id)).pauseReason).toBeUndefined()
  expect(desk.receiver.all.filter(({ path }) => path === '/hook')).toHaveLength(1)
})

test('the webhook of a revoked key can be taken over by a key that manages keys', async () => {
  const { id, owner } = await createOwned()
  await desk.service.call('DELETE', `/keys/${owner.id}`)
  await changePet()
  expect(await shown(id)).toMatchObject({ state: 'paused', pauseReason: `its key ${owner.id} is revoked` })
  const other = await desk.service.createKey('pro', { permissions: ['webhooks'] })
  const refused = await send('POST', `/webhooks/${id}/take-over`, other.secret)
  expect([refused.status, refused.error.code]).toEqual([403, 'forbidden'])
  const { status, json } = await desk.sent('POST', `/webhooks/${id}/take-over`)
  expect([status, (json as Shown).state, (json as Shown).createdBy === owner.id]).toEqual([200, 'on', false])
  // A delivery that was being sent when the webhook was changed may be repeated.
  await desk.arrived(1)
})

test('the changes of a webhook are in the audit of its key, with details for keys that may read webhooks', async () => {
  const { id, owner } = await createOwned()
  await send('PATCH', `/webhooks/${id}`, owner.secret, { paused: true })
  await desk.sent('POST', `/webhooks/${id}/rotate-secret`)
  const takenOver = (await desk.sent('POST', `/webhooks/${id}/take-over`)).json as Shown
  await desk.service.call('DELETE', `/webhooks/${id}`)
  const auditOf = async (keyId = '', key = desk.service.key) => {
    const entries = (await send('GET', `/keys/${keyId}/audit`, key)).json as WireAuditEntry[]
    return entries.filter(({ action }) => action.includes('webhook')).reverse()
  }
  const byOwner = expect.stringContaining(`(${owner.id})`)
  const byOther = expect.stringContaining(`(${takenOver.createdBy})`)
  const ownerAudit = await auditOf(owner.id)
  const otherAudit = (await auditOf(takenOver.createdBy)).slice(-2)
  expect([...ownerAudit, ...otherAudit].map(({ actor, action }) => [actor, action])).toEqual([
    [byOwner, 'create webhook'],
    [byOwner, 'change webhook'],
    [byOther, 'rotate webhook secret'],
    [byOther, 'take over webhook'],
    [byOther, 'take over webhook'],
    [byOther, 'remove webhook'],
  ])
  expect(ownerAudit[1]?.detail).toEndWith(': paused: no → yes')
  // The path of the url may contain a secret.
  for (const { detail } of [...ownerAudit, ...otherAudit]) {
    expect(detail).toContain(`webhook ${id} `)
    expect(detail).not.toContain('/hook')
  }
  const manager = await desk.service.createKey('pro', { permissions: ['keys'] })
  const hidden = await auditOf(owner.id, manager.secret)
  expect(hidden.map(({ action, detail }) => [action, detail])).toEqual(
    ownerAudit.map(({ action }) => [action, '']),
  )
})
