import { readdirSync, readFileSync } from 'node:fs'
import { type Answer, type Handler, type HttpRequest, headerLines } from '@petstore/wire'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import type { Clock } from '../core/values/clock.ts'
import type { WebhookState, WebhookStore } from '../core/webhooks/webhook-store.ts'
import { CONTENT_TYPE } from './exposition.ts'
import type { Gauges, Metrics } from './metrics.ts'

export interface ScrapeParts {
  readonly metrics: Metrics
  readonly store: Pick<CatalogStore, 'countPets'> &
    Pick<KeyStore, 'countActiveKeys'> &
    Pick<OrderStore, 'countOpenOrders' | 'orderTotals'> &
    Pick<WebhookStore, 'listWebhooks'>
  readonly clock: Clock
  /** Of the listener for callers. */
  readonly load: () => { readonly connections: number; readonly requests: number }
}

/** Answers on the listener of the metrics, which has one page. */
export function createScrapeApp({ metrics, store, clock, load }: ScrapeParts): Handler {
  // An alert on a webhook's backlog must not be cleared by a database that cannot say how long it is.
  let lastWebhooks: readonly WebhookState[] = []
  const scrape = async ({ method, path }: HttpRequest): Promise<Answer> => {
    if (path !== '/metrics') {
      return textAnswer(404, 'the metrics are at /metrics\n')
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return textAnswer(405, 'this page offers GET, HEAD\n', { Allow: 'GET, HEAD' })
    }
    // A database in trouble is when the other figures are needed most.
    const [keys, inventoryEntries, openOrders, webhooks] = await Promise.all([
      store.countActiveKeys(clock()).catch(() => undefined),
      store.countPets().catch(() => undefined),
      store.countOpenOrders().catch(() => undefined),
      store.listWebhooks().catch(() => lastWebhooks),
    ])
    lastWebhooks = webhooks
    const text = metrics.render({
      keys,
      inventoryEntries,
      openOrders,
      orderTotals: store.orderTotals(),
      webhooks,
      now: clock(),
      load: load(),
      residentBytes: process.memoryUsage.rss(),
      ...countFiles(),
    })
    return textAnswer(200, text, { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' })
  }
  return { answer: scrape, refuse: ({ message }) => textAnswer(400, `${message}\n`) }
}

function textAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, lines: headerLines({ 'Content-Type': 'text/plain; charset=utf-8', ...headers }), body }
}

/**
 * Bun does not tell how many connections it holds, and an idle one, or one whose request never comes, is seen nowhere
 * else. Without a /proc nothing is known.
 */
function countFiles(): Pick<Gauges, 'openFiles' | 'maxFiles'> {
  try {
    const max = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return {
      // Less the one that reads the folder.
      openFiles: readdirSync('/proc/self/fd').length - 1,
      maxFiles: max === undefined ? undefined : Number(max),
    }
  } catch {
    return { openFiles: undefined, maxFiles: undefined }
  }
}
