export interface Delivery {
  readonly headers: Headers
  readonly body: string
  /** As the body says, which nobody has verified. */
  readonly type: string
}

/** Keeps the deliveries that come to an address of this machine, and answers with `status.now`. */
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
  /** Looks again with each delivery, until there is something to see. */
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
    ...{ taken, status, url: `http://127.0.0.1:${server.port}/hooks` },
    /** The first of each of these types, once they have come. */
    first: (types: readonly string[]): Promise<Delivery[]> =>
      until(() => {
        const found = types.flatMap((type) => taken.find((delivery) => delivery.type === type) ?? [])
        return found.length === types.length ? found : undefined
      }),
    /** All, once there are so many. */
    atLeast: (count: number): Promise<Delivery[]> => until(() => (taken.length >= count ? taken : undefined)),
    stop: () => server.stop(true),
  }
}
