import type { Socket } from 'bun'
import { Connection, type ListenerState } from './connection.ts'
import { OpenConnections } from './open-connections.ts'
import type { Handler } from './request.ts'
import { SendTurns } from './send-turns.ts'
import type { Tls } from './tls.ts'

export interface Listener {
  readonly port: number
  /** The number of open connections, and of requests that are being answered. */
  load(): { readonly connections: number; readonly requests: number }
  /** Accepts no more connections and resolves when pending requests are answered. Drops them after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** The names of the settings, for error messages. */
  readonly flags: { readonly host: string; readonly port: string }
  readonly tls?: Tls
  /** A listening socket that another process, such as systemd, has opened. `host` and `port` then only describe it. */
  readonly fd?: number
  /** The time from the opening of a connection to its first byte. */
  readonly firstByteTimeoutSeconds?: number
  /** The time from a response to the first byte of the next request. */
  readonly keepAliveSeconds?: number
  /** The time of a TLS handshake, and from the first to the last byte of a request. */
  readonly requestTimeoutSeconds?: number
  /** The time in which the client must read at least one byte of a response. */
  readonly writeTimeoutSeconds?: number
  /**
   * At the limit, a new connection replaces the oldest idle connection without an authenticated client, or is refused. An
   * IPv6 /64 counts as one address.
   */
  readonly maxConnectionsPerAddress?: number
  /** The limit for all clients together. Above it, the clients whose responses are the oldest are disconnected. */
  readonly maxUnsentBytes?: number
  /** The length of a second, which tests shorten. */
  readonly secondMs?: number
}

const DEFAULTS = {
  firstByteTimeoutSeconds: 10,
  keepAliveSeconds: 75,
  requestTimeoutSeconds: 10,
  writeTimeoutSeconds: 60,
  maxConnectionsPerAddress: 1_000,
  maxUnsentBytes: 256 * 1024 * 1024,
  secondMs: 1_000,
}

const CLOSE_TIMEOUT_SECONDS = 10
/**
 * Of TLS 1.2, only ciphers with forward secrecy: whoever obtains the private key later cannot read recorded connections. All
 * ciphers of TLS 1.3 have it.
 */
const TLS_CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'
/**
 * A stopping listener sends `Connection: close` with each response, which ends the connections in use. A request may be on
 * its way over an idle connection, so idle connections are closed only after this time.
 */
const SECONDS_BEFORE_IDLE_CLOSE = 1

/** Below this port, only root and programs with a special permission can listen. */
const FIRST_UNPRIVILEGED_PORT = 1_024

function listenProblem(error: unknown, { host, port, flags }: ListenOptions): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return `port ${port} on ${host} is in use; stop the program that uses it, or choose another port with ${flags.port}`
  }
  if (code === 'EACCES' && port < FIRST_UNPRIVILEGED_PORT) {
    return `only root can listen on port ${port}, because it is below ${FIRST_UNPRIVILEGED_PORT}; choose another port with ${flags.port}, or let a proxy or systemd listen on port ${port}`
  }
  return `cannot listen on ${host} port ${port}; check ${flags.host} and ${flags.port}`
}

/** Serves HTTP/1.1 on a port. */
export function listen(handler: Handler, options: ListenOptions): Listener {
  const { host, port, tls, fd, secondMs, ...limits } = { ...DEFAULTS, ...options }
  const connections = new OpenConnections(limits)
  const state: ListenerState = {
    handler,
    turns: new SendTurns(),
    timeoutSeconds: {
      handshake: limits.requestTimeoutSeconds,
      send_first_byte: limits.firstByteTimeoutSeconds,
      begin_request: limits.keepAliveSeconds,
      finish_request: limits.requestTimeoutSeconds,
      read_response: limits.writeTimeoutSeconds,
      close: CLOSE_TIMEOUT_SECONDS,
    },
    keepAliveLine: `Keep-Alive: timeout=${limits.keepAliveSeconds}\r\n`,
    seconds: 0,
    responses: 0,
    isStopping: false,
    onUnsent: () => connections.onUnsentResponse(),
  }
  const listenOptions = {
    hostname: host,
    port,
    // Bun's types lack `fd`. A test checks that it works.
    ...(fd === undefined ? {} : { fd }),
    // A client that has closed its sending side may still read.
    allowHalfOpen: true,
    ...(tls === undefined ? {} : { tls: { ...tls, ciphers: TLS_CIPHERS } }),
    socket: socketEvents(state, connections, tls !== undefined),
  }
  let server: Bun.TCPSocketListener<Connection>
  try {
    server = Bun.listen<Connection>(listenOptions)
  } catch (error) {
    throw new Error(listenProblem(error, options), { cause: error })
  }
  const tickTimer = setInterval(() => {
    state.seconds++
    connections.onTick()
  }, secondMs)

  return {
    port: fd === undefined ? server.port : port,
    load: () => connections.load(),
    stop: async (graceMs) => {
      state.isStopping = true
      server.stop()
      const graceTimer = setTimeout(() => server.stop(true), graceMs)
      const allClosed = connections.whenAllClosed()
      const idleMs = Math.min(graceMs, SECONDS_BEFORE_IDLE_CLOSE * secondMs)
      await Promise.race([Bun.sleep(idleMs), allClosed])
      connections.closeWhenAnswered()
      await allClosed
      clearTimeout(graceTimer)
      clearInterval(tickTimer)
    },
  }
}

function socketEvents(state: ListenerState, connections: OpenConnections, isTls: boolean) {
  return {
    data: ({ data: connection }: Socket<Connection>, bytes: Buffer) => connection.onData(bytes),
    end: ({ data: connection }: Socket<Connection>) => connection.onEnd(),
    drain: ({ data: connection }: Socket<Connection>) => connection.onDrain(),
    open(socket: Socket<Connection>) {
      // Bun's types lack `undefined`, which is the address of a client that has already reset the connection.
      const address: string = socket.remoteAddress ?? ''
      const { refusal, isDropped } = connections.admit(address)
      const connection = new Connection(socket, address, state, refusal)
      socket.data = connection
      connections.add(connection)
      if (isDropped) connection.terminate()
      else if (!isTls) connection.onOpen()
    },
    // Without this handler, Bun would call `open` only after the handshake, which may never end.
    handshake({ data: connection }: Socket<Connection>, isComplete: boolean) {
      if (isComplete) connection.onOpen()
    },
    close({ data: connection }: Socket<Connection>) {
      connection.onClosed()
      connections.remove(connection)
    },
    // Called for TLS errors.
    error: (socket: Socket<Connection>) => socket.terminate(),
  }
}
