export interface Delivery {
  readonly headers: Headers
  readonly body: string
  /** The type in the body, which is not verified. */
  readonly type: string
}

/** A receiver on this machine that records deliveries. */
export function receiveWebhooks() {
  const received: Delivery[] = []
  let arrived = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const body = await request.text()
      received.push({ headers: request.headers, body, type: JSON.parse(body).type })
      arrived.resolve()
      arrived = Promise.withResolvers<void>()
      return new Response(null, { status: 204 })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hooks`,
    /** The first delivery of each of these types, once all have arrived. */
    first: async (types: readonly string[]): Promise<Delivery[]> => {
      for (;;) {
        const found = types.flatMap((type) => received.find((delivery) => delivery.type === type) ?? [])
        if (found.length === types.length) return found
        await arrived.promise
      }
    },
    stop: () => server.stop(true),
  }
}
