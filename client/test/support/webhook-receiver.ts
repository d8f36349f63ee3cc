export interface Delivery {
  readonly headers: Headers
  readonly body: string
  /** The type in the body, which is not verified. */
  readonly type: string
}

/** A receiver on this machine that records deliveries and responds with `status.now`. */
export function receiveWebhooks() {
  const status = { now: 204 }
  const taken: Delivery[] = []
  const waiting = new Set<() => void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const body = await request.text()
      taken.push({ headers: request.headers, body, type: JSON.parse(body).type })
      for (const wake of waiting) wake()
      return new Response(null, { status: status.now })
    },
  })
  /** Calls `look` after each delivery until it returns a value. */
  const until = async <Found>(look: () => Found | undefined): Promise<Found> => {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        const wake = () => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      })
    }
  }
  return {
    taken,
    status,
    url: `http://127.0.0.1:${server.port}/hooks`,
    /** The first delivery of each of these types, once all have arrived. */
    first: (types: readonly string[]): Promise<Delivery[]> =>
      until(() => {
        const found = types.flatMap((type) => taken.find((delivery) => delivery.type === type) ?? [])
        return found.length === types.length ? found : undefined
      }),
    /** All deliveries, once there are at least `count`. */
    atLeast: (count: number): Promise<Delivery[]> => until(() => (taken.length >= count ? taken : undefined)),
    stop: () => server.stop(true),
  }
}
