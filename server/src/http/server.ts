import type { App } from './app.ts'
import type { Tls } from './tls.ts'

export interface Listener {
  readonly port: number
  /** Requests that are being answered at this moment. */
  openRequests(): number
  /**
   * Takes no more connections, and resolves when the requests under way are answered. What is left after
   * the grace time is cut off.
   */
  stop(graceMs: number): Promise<void>
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** What to tell people who have to choose another address or port. */
  readonly flags: { readonly host: string; readonly port: string }
  readonly tls?: Tls
  /** Other processes listen on the same port. */
  readonly isShared?: boolean
}

/**
 * Bun closes idle connections as soon as it stops, even one whose next request is on its way. So before
 * the stop the answers say `Connection: close` for a moment, and busy connections end by themselves: it
 * is over when nothing has come for QUIET_MS, or after LONGEST_FAREWELL_MS.
 */
const QUIET_MS = 20
const LONGEST_FAREWELL_MS = 200

/** The only file that knows that Bun serves. */
export function listen(app: App, { host, port, flags, tls, isShared = false }: ListenOptions): Listener {
  let arrived = 0
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      reusePort: isShared,
      ...(tls === undefined ? {} : { tls }),
      development: false,
      // Bun would refuse a large body without an Error body: operations do it, before they read it.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, bun) => {
        arrived++
        return app(request, {
          address: () => bun.requestIP(request)?.address ?? 'unknown',
          // Where nothing is said, Bun closes it after 10 s.
          limitIdle: (seconds) => bun.timeout(request, seconds),
        })
      },
    })
    return {
      port: server.port ?? port,
      openRequests: () => server.pendingRequests,
      stop: async (graceMs) => {
        const cut = setTimeout(() => void server.stop(true), graceMs)
        if (graceMs > 0) await farewell(() => arrived, Math.min(graceMs, LONGEST_FAREWELL_MS))
        await server.stop()
        clearTimeout(cut)
      },
    }
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
        ? `port ${port} on ${host} is taken; stop what uses it, or choose another with ${flags.port}`
        : `cannot listen on ${host} port ${port}; check ${flags.host} and ${flags.port}`
    throw new Error(reason, { cause: error })
  }
}

async function farewell(arrived: () => number, longestMs: number): Promise<void> {
  const deadline = performance.now() + longestMs
  let before: number
  do {
    before = arrived()
    await Bun.sleep(QUIET_MS)
  } while (arrived() > before && performance.now() < deadline)
}
