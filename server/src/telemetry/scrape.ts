import type { Clock } from '../core/clock.ts'
import type { Store } from '../core/store.ts'
import { CONTENT_TYPE } from './exposition.ts'
import type { Metrics } from './metrics.ts'
import { openFiles } from './open-files.ts'

export interface ScrapeParts {
  readonly metrics: Metrics
  readonly store: Pick<Store, 'countPets' | 'countActiveKeys'>
  readonly clock: Clock
  readonly openRequests: () => number
}

/** Answers on the listener of the metrics, which has one page. */
export function createScrapeApp({ metrics, store, clock, openRequests }: ScrapeParts) {
  return async (request: Request): Promise<Response> => {
    if (new URL(request.url, 'http://localhost').pathname !== '/metrics') {
      return new Response('the metrics are at /metrics\n', { status: 404 })
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response('this page offers GET, HEAD\n', { status: 405, headers: { Allow: 'GET, HEAD' } })
    }
    // A database in trouble is when the other figures are needed most.
    const [keys, inventoryEntries] = await Promise.all([
      store.countActiveKeys(clock()).catch(() => undefined),
      store.countPets().catch(() => undefined),
    ])
    const text = metrics.render({
      keys,
      inventoryEntries,
      openRequests: openRequests(),
      residentBytes: process.memoryUsage.rss(),
      files: openFiles(),
    })
    return new Response(text, { headers: { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' } })
  }
}
