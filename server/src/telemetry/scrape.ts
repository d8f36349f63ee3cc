import type { Handler, HttpRequest } from '@petstore/wire'
import { type Answer, headerLines } from '@petstore/wire'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { Clock } from '../core/values/clock.ts'
import { CONTENT_TYPE } from './exposition.ts'
import type { Metrics } from './metrics.ts'
import { openFiles } from './open-files.ts'

export interface ScrapeParts {
  readonly metrics: Metrics
  readonly store: Pick<CatalogStore, 'countPets'> & Pick<KeyStore, 'countActiveKeys'>
  readonly clock: Clock
  /** Of the listener for callers. */
  readonly load: () => { readonly connections: number; readonly requests: number }
}

/** Answers on the listener of the metrics, which has one page. */
export function createScrapeApp({ metrics, store, clock, load }: ScrapeParts): Handler {
  const scrape = async ({ method, path }: HttpRequest): Promise<Answer> => {
    if (path !== '/metrics') {
      return textAnswer(404, 'the metrics are at /metrics\n')
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return textAnswer(405, 'this page offers GET, HEAD\n', { Allow: 'GET, HEAD' })
    }
    // A database in trouble is when the other figures are needed most.
    const [keys, inventoryEntries] = await Promise.all([
      store.countActiveKeys(clock()).catch(() => undefined),
      store.countPets().catch(() => undefined),
    ])
    const text = metrics.render({
      keys,
      inventoryEntries,
      load: load(),
      residentBytes: process.memoryUsage.rss(),
      files: openFiles(),
    })
    return textAnswer(200, text, { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' })
  }
  return { answer: scrape, refuse: ({ message }) => textAnswer(400, `${message}\n`) }
}

function textAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, lines: headerLines({ 'Content-Type': 'text/plain; charset=utf-8', ...headers }), body }
}
