import type { App } from './app.ts'

export interface Listener {
  readonly port: number
  /** Takes no more connections, and resolves when the requests under way are answered. */
  stop(): Promise<void>
}

/** The only file that knows that Bun serves. */
export function listen(app: App, { host, port }: { host: string; port: number }): Listener {
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      // Bun would refuse a large body without an Error body: operations do it, before they read it.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, bun) => app(request, bun.requestIP(request)?.address ?? 'unknown'),
    })
    return { port: server.port ?? port, stop: () => server.stop() }
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
        ? `port ${port} on ${host} is taken; stop what uses it, or choose another with --port`
        : `cannot listen on ${host} port ${port}; check --host and --port`
    throw new Error(reason, { cause: error })
  }
}
