import type { TortureTask } from '../../server/scripts/torture-task.ts'
import { serve } from '../../server/test/cli/running-petstore.ts'
import { stockUp } from '../../server/test/postgres/shop.ts'
import { FreezingProxy } from '../../server/test/support/freezing-proxy.ts'
import { PostgresServer } from '../../server/test/support/postgres-server.ts'

const ORDERS = 500
const PETS = 100
const POOL_SIZE = 2
const DELAY_MS = 40
const MAX_REFUSED = 25
const MAX_SECONDS = 5

/** A burst of orders that far exceeds the sessions of a distant database. */
export const overloadTask: TortureTask = {
  name: 'overload',
  promise: `${ORDERS} orders at once through ${POOL_SIZE} sessions and ${DELAY_MS} ms to the database: nearly all succeed, the others are shed early, and /readyz stays 200.`,
  share: 1,
  run: async ({ say }) => {
    const server = await PostgresServer.start()
    const petIds = Array.from({ length: PETS }, (_, index) => index + 1)
    const key = await stockUp(server.url(), petIds)
    const proxy = await FreezingProxy.open(server.port)
    const url = server.url().replace(String(server.port), String(proxy.port))
    const env = { DATABASE_URL: url, PG_POOL_SIZE: String(POOL_SIZE), LOG_REQUESTS: 'none' }
    const instance = await serve([], { cwd: '/', env })
    try {
      const restock = JSON.stringify({
        reason: 'received',
        changes: petIds.map((petId) => ({ petId, delta: ORDERS })),
      })
      const restocked = await instance.call('/inventory/adjustments', key, { method: 'POST', body: restock })
      if (!restocked.ok) throw new Error(`the adjustment was answered with ${restocked.status}`)
      proxy.slowDown(DELAY_MS)
      const statuses = new Map<number, number>()
      const readiness = new Set<number>()
      let slowestMs = 0
      let isOver = false
      const watching = (async () => {
        while (!isOver) {
          readiness.add((await fetch(`${instance.address}/readyz`)).status)
          await Bun.sleep(50)
        }
      })()
      const order = async (index: number) => {
        const body = JSON.stringify({ petId: 1 + (index % PETS), quantity: 1 })
        const began = performance.now()
        const response = await instance.call('/store/orders', key, { method: 'POST', body })
        await response.text()
        slowestMs = Math.max(slowestMs, performance.now() - began)
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      }
      await Promise.all(Array.from({ length: ORDERS }, (_, index) => order(index)))
      isOver = true
      await watching
      const seconds = slowestMs / 1_000
      const counts = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ')
      const figure = `${counts}, the slowest after ${seconds.toFixed(1)} s; /readyz ${[...readiness].join(', ')}`
      say(figure)
      const refused = ORDERS - (statuses.get(201) ?? 0)
      const violations = [
        ...(refused > MAX_REFUSED ? [`${refused} of ${ORDERS} orders were refused`] : []),
        ...(seconds > MAX_SECONDS ? [`an answer took ${seconds.toFixed(1)} s`] : []),
        ...(readiness.has(503) ? ['/readyz was 503 though the database was there'] : []),
      ]
      return { figures: [[`${ORDERS} orders at once`, figure]], violations }
    } finally {
      await instance.stop()
      proxy.close()
      await server.end()
    }
  },
}
