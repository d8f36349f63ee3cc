import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NewOrder, PetstoreClient, type Reason } from '@petstore/client'
import { createSecret, PERMISSIONS, toStoredSecret } from '../../server/src/core/keys/api-key.ts'
import { startService } from '../../server/src/service/compose.ts'
import { readConfig } from '../../server/src/service/config.ts'
import { DEMO_SECRETS, prepareDemo } from '../../server/src/service/demo.ts'
import { openStore } from '../../server/src/store/open-store.ts'
import type { Store } from '../../server/src/store/store.ts'
import { logTo } from '../../server/test/support/log-to.ts'
import { addWebhooks } from './lively-webhooks.ts'

const MINUTE = 60_000
const DAYS = 18
const SILENT = logTo(() => {})

export interface LivelyShop {
  readonly address: string
  /** Of the Pro plan, so that the limits are those of a real shop. */
  readonly apiKey: string
  stop(): Promise<void>
}

/**
 * The demo store as it might look after some weeks: three people have sold, counted and restocked. All of it was
 * done through the interface, with a clock that runs ahead to the present.
 */
export async function startLivelyShop(): Promise<LivelyShop> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-screenshots-'))
  let now: number | undefined = Date.now() - (DAYS + 1) * 24 * 60 * MINUTE
  const clock = () => now ?? Date.now()
  const store = await openStore(`sqlite:${join(folder, 'demo.db')}`, { tables: 'migrate', clock })
  await prepareDemo(store, clock())
  const settings = { port: '0', metricsPort: 'off', webhookPrivateAddresses: 'on' }
  const service = await startService(readConfig(settings, {}), store, {
    clock,
    lookup: async () => ['127.0.0.1'],
    demoSecrets: new Set(Object.values(DEMO_SECRETS)),
    logOutput: SILENT,
  })
  const address = `http://127.0.0.1:${service.port}`
  const clientOf = async (name: string) =>
    new PetstoreClient({ baseUrl: `${address}/v1`, apiKey: await addKey(store, name, clock()) })
  const staff = {
    desk: await clientOf('Front desk'),
    stockroom: await clientOf('Stockroom'),
    shop: await clientOf('Online shop'),
  }
  for (const { at, who, petId, delta, ...purpose } of someWeeks()) {
    now = at
    await staff[who].inventory.adjust({ ...purpose, changes: [{ petId, delta }] })
  }
  const webhooks = await addWebhooks(staff.shop)
  for (const { minutesAgo, ...order } of ORDERS) {
    now = Date.now() - minutesAgo * MINUTE
    await staff.shop.orders.create(order)
  }
  now = undefined
  await webhooks.settle()
  return {
    address,
    apiKey: DEMO_SECRETS.enterprise,
    stop: async () => {
      await service.stop()
      await webhooks.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function addKey(store: Store, name: string, at: number): Promise<string> {
  const secret = createSecret('production')
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 }
  const id = `key_${name.toLowerCase().replaceAll(' ', '_')}`
  const key = { id, name, plan: 'enterprise', limits, permissions: PERMISSIONS, createdAt: at } as const
  await store.runKeyCommand(
    { type: 'operator', name: 'screenshots' },
    { type: 'create', key, secret: toStoredSecret(secret, at) },
    at,
  )
  return secret
}

interface Deed {
  readonly at: number
  readonly who: 'desk' | 'stockroom' | 'shop'
  readonly petId: bigint
  readonly delta: number
  readonly reason: Reason
  readonly reference?: string
}

/** How many of each are sold at a time, and restocked at a time; the demo's ids. */
const TRADE: readonly (readonly [petId: bigint, sold: number, restocked: number])[] = [
  [16n, 18, 120],
  [19n, 9, 60],
  [11n, 3, 12],
  [17n, 4, 18],
  [10n, 1, 4],
  [6n, 1, 3],
  [21n, 2, 8],
]

/** Of today, in minutes before now: so that something happened just now, at whatever time the pictures are taken. */
const TODAY: readonly (Omit<Deed, 'at'> & { readonly minutesAgo: number })[] = [
  { minutesAgo: 9, who: 'desk', petId: 11n, delta: -2, reason: 'sold' },
  { minutesAgo: 6, who: 'shop', petId: 17n, delta: -1, ...order(1) },
  { minutesAgo: 3, who: 'stockroom', petId: 2n, delta: 2, ...delivery(0) },
  { minutesAgo: 1, who: 'desk', petId: 16n, delta: -6, reason: 'damaged' },
]

/** What is ordered and not sent yet, the earliest first; some of it in baskets that nobody has paid for. */
const ORDERS: readonly (NewOrder & { readonly minutesAgo: number })[] = [
  { minutesAgo: 340, petId: 16n, quantity: 12 },
  { minutesAgo: 190, petId: 22n, quantity: 1 },
  { minutesAgo: 50, petId: 23n, quantity: 2, holdSeconds: 3 * 3_600 },
  { minutesAgo: 22, petId: 18n, quantity: 4 },
  { minutesAgo: 11, petId: 16n, quantity: 20, holdSeconds: 24 * 3_600 },
  { minutesAgo: 7, petId: 5n, quantity: 2, holdSeconds: 900 },
]

function delivery(daysAgo: number) {
  return { reason: 'received', reference: `PO-${1060 - daysAgo}` } as const
}

function order(before: number) {
  return { reason: 'sold', reference: `order ${2200 - before}` } as const
}

/** The same every time, the earliest first: sales in opening hours, a delivery when a shelf gets empty. */
function someWeeks(): readonly Deed[] {
  const deeds: Deed[] = []
  TRADE.forEach(([petId, sold, restocked], index) => {
    let gone = 0
    for (let daysAgo = DAYS; daysAgo >= 1; daysAgo--) {
      for (const hour of [9 + ((daysAgo * 5 + index * 3) % 4), 14 + ((daysAgo * 7 + index * 2) % 5)]) {
        const at = new Date().setHours(hour - 24 * daysAgo, (index * 13 + daysAgo * 17) % 60, 0, 0)
        const isDelivery = gone >= restocked
        // Some hours nobody comes for it.
        if (!isDelivery && (hour + index + daysAgo) % 3 === 0) continue
        const delta = isDelivery ? restocked : -Math.max(1, sold - ((hour + daysAgo) % 4))
        gone = isDelivery ? 0 : gone - delta
        if (isDelivery) deeds.push({ at, who: 'stockroom', petId, delta, ...delivery(daysAgo) })
        else if (hour < 14) deeds.push({ at, who: 'desk', petId, delta, reason: 'sold' })
        else deeds.push({ at, who: 'shop', petId, delta, ...order(daysAgo * 10 + index) })
      }
    }
  })
  const now = Date.now()
  for (const { minutesAgo, ...deed } of TODAY) deeds.push({ ...deed, at: now - minutesAgo * MINUTE })
  return deeds.sort((a, b) => a.at - b.at)
}
