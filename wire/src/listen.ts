import { Connection, type Handler } from './connection.ts'
import type { Tls } from './tls.ts'

const SECOND = 1_000

export interface Listener {
  readonly port: number
  /** What is there at this moment: connections, and requests that are being answered. */
  load(): { readonly connections: number; readonly requests: number }
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
 * A connection that is idle when it is closed may have its next request on the way. So before the stop the answers say
 * `Connection: close` for a moment, and busy connections end by themselves: it is over when nothing has come for
 * QUIET_MS, or after MAX_WAIT_FOR_QUIET_MS.
 */
const QUIET_MS = 20
const MAX_WAIT_FOR_QUIET_MS = 200

/** HTTP/1.1 on a port. The only file that knows how Bun listens. */
export function listen(
  handler: Handler,
  { host, port, flags, tls, isShared = false }: ListenOptions,
): Listener {
  const connections = new Set<Connection>()
  let seconds = 0
  let arrived = 0
  let isStopping = false
  const parts = { handler, now: () => seconds, isStopping: () => isStopping }
  let onEmpty: (() => void) | undefined
  const listenOptions = {
    hostname: host,
    port,
    reusePort: isShared,
    // One that sends nothing more may still read.
    allowHalfOpen: true,
    ...(tls === undefined ? {} : { tls }),
    socket: {
      open(socket: Bun.Socket<Connection>) {
        socket.data = new Connection(socket, parts)
        connections.add(socket.data)
      },
      // With it, `open` does not wait for the end of a handshake, which may never come.
      handshake() {},
      data({ data }: Bun.Socket<Connection>, bytes: Buffer) {
        arrived++
        data.onData(bytes)
      },
      end: ({ data }: Bun.Socket<Connection>) => data.onEnd(),
      drain: ({ data }: Bun.Socket<Connection>) => data.onDrain(),
      close({ data }: Bun.Socket<Connection>) {
        data.onClosed()
        connections.delete(data)
        if (connections.size === 0) onEmpty?.()
      },
      // Of TLS: what we do ourselves does not throw.
      error: (socket: Bun.Socket<Connection>) => socket.terminate(),
    },
  }
  let server: Bun.TCPSocketListener<Connection>
  try {
    server = Bun.listen<Connection>(listenOptions)
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
        ? `port ${port} on ${host} is taken; stop what uses it, or choose another with ${flags.port}`
        : `cannot listen on ${host} port ${port}; check ${flags.host} and ${flags.port}`
    throw new Error(reason, { cause: error })
  }
  const ticking = setInterval(() => {
    seconds++
    for (const connection of connections) connection.checkTimeouts()
  }, SECOND)

  return {
    port: server.port,
    load: () => ({
      connections: connections.size,
      requests: [...connections].filter(({ isBusy }) => isBusy).length,
    }),
    stop: async (graceMs) => {
      isStopping = true
      const cut = setTimeout(() => server.stop(true), graceMs)
      if (graceMs > 0) await waitForQuiet(() => arrived, Math.min(graceMs, MAX_WAIT_FOR_QUIET_MS))
      server.stop()
      for (const connection of connections) connection.closeWhenAnswered()
      if (connections.size > 0) await new Promise<void>((resolve) => (onEmpty = resolve))
      clearTimeout(cut)
      clearInterval(ticking)
    },
  }
}

async function waitForQuiet(arrived: () => number, maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs
  let before: number
  do {
    before = arrived()
    await Bun.sleep(QUIET_MS)
  } while (arrived() > before && performance.now() < deadline)
}
