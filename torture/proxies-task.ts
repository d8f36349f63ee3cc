import type { TortureTask } from '../server/scripts/torture-task.ts'
import type { ProxiedUpdates } from '../server/test/faults/proxies/proxied-updates.ts'
import { openShop, PROXIES, type ProxyName, updatesDuring } from '../server/test/faults/proxies/proxies.ts'
import { missingPackage } from '../wire/test/debian-package.ts'

const RESTARTS = 20
const RESTARTS_IN_SHORT = 3
const SPARSE = { connections: 200, gapMs: [9_000, 12_000] } as const
/** Some 3,000 updates. */
const SPARSE_SECONDS = 165
const SPARSE_SECONDS_IN_SHORT = 40
const DELAY_MS = 10
/** Without a response after this time, a request went to the hung instance. */
const UNANSWERED_MS = 2_000
const MAX_HUNG_MS = 5_000
/** If all requests of this period were answered, the proxy no longer uses the instance. */
const SURELY_OUT_MS = 8_000

/** The long form of proxies.test.ts. */
export const proxiesTask: TortureTask = {
  name: 'proxies',
  promise:
    'Behind nginx and HAProxy no request fails, neither in rolling restarts nor on sparse connections; HAProxy takes a hung instance out within 5 s.',
  share: 4,
  run: async ({ isFull, say }) => {
    const figures: [string, string][] = []
    const violations: string[] = []
    const note = (what: string, { answered, failures }: ProxiedUpdates) => {
      say(`${what}: ${answered} updates, ${failures.length} failed`)
      figures.push([`updates ${what}`, `${answered}, failed ${failures.length}`])
      violations.push(...failures.map((failure) => `${what}: ${failure}`))
    }
    const missing = await Promise.all(PROXIES.map((name) => missingPackage(name)))
    violations.push(...missing.filter((advice) => advice !== undefined))
    const installed = PROXIES.filter((_, index) => missing[index] === undefined)
    const restarts = isFull ? RESTARTS : RESTARTS_IN_SHORT
    for (const name of installed) {
      note(`during ${restarts} rolling restarts behind ${name}`, await rollingRestarts(name, restarts))
    }
    if (installed.includes('haproxy')) {
      const hungMs = await requestsToHungInstance()
      say(`haproxy sent requests to a hung instance for ${hungMs} ms`)
      figures.push(['HAProxy sent requests to a hung instance for', `${hungMs} ms`])
      if (hungMs > MAX_HUNG_MS) violations.push(`HAProxy sent requests to a hung instance for ${hungMs} ms`)
    }
    const seconds = isFull ? SPARSE_SECONDS : SPARSE_SECONDS_IN_SHORT
    const sparse = installed.map(async (name) => {
      note(`of 200 sparse connections through ${name}`, await sparseUpdates(name, seconds))
    })
    await Promise.all(sparse)
    return { figures, violations }
  },
}

/** The time between the SIGSTOP of an instance and the last request sent to it, in milliseconds. */
async function requestsToHungInstance(): Promise<number> {
  const shop = await openShop('haproxy')
  try {
    shop.freeze(0)
    const frozenAt = performance.now()
    let last = frozenAt
    while (performance.now() - last < SURELY_OUT_MS) {
      const sentAt = performance.now()
      const ask = async () => {
        const init = { headers: { Connection: 'close' }, signal: AbortSignal.timeout(UNANSWERED_MS) }
        await fetch(`${shop.address}/healthz`, init).catch(() => {
          last = Math.max(last, sentAt)
        })
      }
      void ask()
      await Bun.sleep(20)
    }
    return Math.round(last - frozenAt)
  } finally {
    await shop.stop()
  }
}

async function rollingRestarts(name: ProxyName, times: number): Promise<ProxiedUpdates> {
  const shop = await openShop(name)
  try {
    return await updatesDuring(shop.address, { connections: 16 }, async () => {
      for (let round = 0; round < times; round++) await shop.restartAll()
    })
  } finally {
    await shop.stop()
  }
}

async function sparseUpdates(name: ProxyName, seconds: number): Promise<ProxiedUpdates> {
  const shop = await openShop(name, DELAY_MS)
  try {
    return await updatesDuring(shop.address, SPARSE, () => Bun.sleep(seconds * 1_000))
  } finally {
    await shop.stop()
  }
}
