import type { PetstoreClient, Webhook } from '@petstore/client'

const ORDERS = ['order.created', 'order.completed', 'order.cancelled', 'order.expired'] as const
const STOCK = ['stock.changed', 'stock.low', 'stock.recovered'] as const

export interface LivelyWebhooks {
  /** Until the one has got everything, and the other has failed. */
  settle(): Promise<void>
  stop(): Promise<void>
}

/** Two systems of others on this machine: one that takes what it is told, and one that has trouble. */
export async function addWebhooks(client: PetstoreClient): Promise<LivelyWebhooks> {
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      request.headers.get('Host')?.startsWith('chat.')
        ? new Response('{"error":"the channel #orders is archived"}', { status: 404 })
        : new Response('{"ok":true}'),
  })
  const add = async (name: string, path: string, kinds: readonly Webhook['kinds'][number][]) =>
    (await client.webhooks.create({ url: `http://${name}.example:${receiver.port}${path}`, kinds })).id
  const taking = await add('online-shop', '/hooks/stock', [...STOCK, ...ORDERS])
  const failing = await add('chat', '/services/T0A2/new-orders', ['order.created'])
  return {
    settle: async () => {
      await client.webhooks.test(taking)
      for (let isSettled = false; !isSettled; await Bun.sleep(50)) {
        const { behind } = await client.webhooks.get(taking)
        const { failingSince } = await client.webhooks.get(failing)
        isSettled = behind.events === 0 && failingSince !== undefined
      }
    },
    stop: () => receiver.stop(true),
  }
}
