import { createSecureContext } from 'node:tls'
import type { Socket } from 'bun'
import { Connection } from './connection.ts'
import type { Handler } from './request.ts'
import { RequestProblem } from './request-head.ts'
import type { Tls } from './tls.ts'

export interface Listener {
  readonly port: number
  /** Open connections, and requests that are being answered. */
  load(): { readonly connections: number; readonly requests: number }
  /** Replaces the certificate for new connections. */
  setTls(tls: Tls): void
  /** Accepts no more connections and resolves when pending requests are answered. After `graceMs` they are cut off. */
  stop(graceMs: number): Promise<void>
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** The names of the settings, for error messages. */
  readonly flags: { readonly host: string; readonly port: string }
  readonly tls?: Tls
  /** Other processes listen on the same port. */
  readonly isShared?: boolean
  /** A listening socket that was passed to this process, as systemd does. `host` and `port` then only describe it. */
  readonly fd?: number
  /** From the opening of a connection to its first byte. */
  readonly firstByteTimeoutSeconds?: number
  /** From an answer to the first byte of the next request. */
  readonly keepAliveSeconds?: number
  /** For the TLS handshake, and from the first to the last byte of a request. */
  readonly requestTimeoutSeconds?: number
  /** For the client to read any byte of an answer. */
  readonly writeTimeoutSeconds?: number
  /** At the limit, a new connection replaces the oldest idle connection without a known client, or is refused. */
  readonly maxConnectionsPerAddress?: number
  /** The limit for all slow clients together. Beyond it, the slowest clients are disconnected. */
  readonly maxUnsentBytes?: number
  /** The length of a second; tests shorten it. */
  readonly secondMs?: number
}

const DEFAULTS = {
  firstByteTimeoutSeconds: 10,
  keepAliveSeconds: 75,
  requestTimeoutSeconds: 10,
  writeTimeoutSeconds: 60,
  maxConnectionsPerAddress: 1_000,
  maxUnsentBytes: 256 * 1024 * 1024,
  isShared: false,
  secondMs: 1_000,
}

const CLOSE_TIMEOUT_SECONDS = 10
/** The number of refused connections of one address that get an answer. Further connections are dropped. */
const MAX_REFUSALS_PER_ADDRESS = 1_000
/** The memory of slow clients is checked once a second, and after this many answers with unsent bytes. */
const UNSENT_ANSWERS_BETWEEN_CHECKS = 16
/**
 * The next request of an idle connection may be on its way. While stopping, answers therefore say `Connection: close`
 * first, which ends the connections in use. Idle connections are closed when no bytes have arrived for a second, or after
 * MAX_SECONDS_UNTIL_QUIET. That second is checked in several parts, so that a machine that was suspended does not count
 * as quiet.
 */
const CHECKS_PER_QUIET_SECOND = 10
const MAX_SECONDS_UNTIL_QUIET = 5

/** Serves HTTP/1.1 on a port. Only this file depends on how Bun listens. */
export function listen(handler: Handler, options: ListenOptions): Listener {
  const { host, port, flags, tls, isShared, fd, secondMs, ...limits } = { ...DEFAULTS, ...options }
  const connections = new Set<Connection>()
  const perAddress = new Map<string, Set<Connection>>()
  let secureContext: unknown
  let seconds = 0
  let arrivals = 0
  let lastArrival = 0
  let unsentAnswers = 0
  let isStopping = false
  const allClosed = Promise.withResolvers<void>()
  const parts = {
    handler,
    seconds: {
      handshake: limits.requestTimeoutSeconds,
      send_first_byte: limits.firstByteTimeoutSeconds,
      begin_request: limits.keepAliveSeconds,
      finish_request: limits.requestTimeoutSeconds,
      read_answer: limits.writeTimeoutSeconds,
      close: CLOSE_TIMEOUT_SECONDS,
    },
    keepAliveLine: `Keep-Alive: timeout=${limits.keepAliveSeconds}\r\n`,
    now: () => seconds,
    isStopping: () => isStopping,
    onUnsent: () => {
      if (++unsentAnswers % UNSENT_ANSWERS_BETWEEN_CHECKS === 0)
        dropSlowest(connections, limits.maxUnsentBytes)
    },
  }
  const onArrival = () => {
    arrivals++
    lastArrival = seconds
  }
  const forget = (connection: Connection): void => {
    const ofAddress = perAddress.get(connection.address)
    ofAddress?.delete(connection)
    if (ofAddress?.size === 0) perAddress.delete(connection.address)
  }
  /**
   * Makes room for one more connection of an address by closing its oldest expendable connections. Returns by how many
   * connections the address then exceeds its limit. Refused connections that are still closing count.
   */
  const excessOf = (address: string): number => {
    const ofAddress = perAddress.get(address) ?? new Set()
    let excess = ofAddress.size + 1 - limits.maxConnectionsPerAddress
    for (const connection of ofAddress) {
      if (excess <= 0) break
      if (!connection.isExpendable) continue
      forget(connection)
      connection.terminate()
      excess--
    }
    return Math.max(0, excess)
  }

  const socketEvents = {
    open(socket: Socket<Connection>) {
      const address = socket.remoteAddress
      const excess = excessOf(address)
      const refusal = excess > 0 ? tooManyConnections(limits.maxConnectionsPerAddress) : undefined
      const connection = new Connection(socket, parts, refusal)
      socket.data = connection
      onArrival()
      connections.add(connection)
      perAddress.set(address, (perAddress.get(address) ?? new Set()).add(connection))
      if (excess > MAX_REFUSALS_PER_ADDRESS) connection.terminate()
      else if (tls === undefined) connection.onOpen()
      else if (secureContext !== undefined) setCertificate(socket, secureContext)
    },
    // Without this handler, `open` would wait for the end of a handshake, which may never come.
    handshake({ data }: Socket<Connection>, isComplete: boolean) {
      if (isComplete) data.onOpen()
    },
    data({ data }: Socket<Connection>, bytes: Buffer) {
      onArrival()
      data.onData(bytes)
    },
    end: ({ data }: Socket<Connection>) => data.onEnd(),
    drain: ({ data }: Socket<Connection>) => data.onDrain(),
    close({ data }: Socket<Connection>) {
      data.onClosed()
      connections.delete(data)
      forget(data)
      if (isStopping && connections.size === 0) allClosed.resolve()
    },
    // A TLS error.
    error: (socket: Socket<Connection>) => socket.terminate(),
  }
  const listenOptions = {
    hostname: host,
    port,
    reusePort: isShared,
    // Missing in Bun's types; a test checks that it works.
    ...(fd === undefined ? {} : { fd }),
    // A client that sends nothing more may still read.
    allowHalfOpen: true,
    ...(tls === undefined ? {} : { tls }),
    socket: socketEvents,
  }
  let server: Bun.TCPSocketListener<Connection>
  try {
    server = Bun.listen<Connection>(listenOptions)
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
        ? `port ${port} on ${host} is in use; stop the program that uses it, or choose another port with ${flags.port}`
        : `cannot listen on ${host} port ${port}; check ${flags.host} and ${flags.port}`
    throw new Error(reason, { cause: error })
  }
  const ticking = setInterval(() => {
    seconds++
    for (const connection of connections) connection.onTick()
    dropSlowest(connections, limits.maxUnsentBytes)
  }, secondMs)

  /** Resolves when no bytes have arrived for a second, or no connection is left. */
  const quiet = async (maxMs: number): Promise<void> => {
    const deadline = performance.now() + maxMs
    let quietChecks = seconds - lastArrival > 1 ? CHECKS_PER_QUIET_SECOND : 0
    while (connections.size > 0 && quietChecks < CHECKS_PER_QUIET_SECOND && performance.now() < deadline) {
      const before = arrivals
      await Promise.race([Bun.sleep(secondMs / CHECKS_PER_QUIET_SECOND), allClosed.promise])
      quietChecks = arrivals === before ? quietChecks + 1 : 0
    }
  }

  return {
    port: fd === undefined ? server.port : port,
    load: () => ({
      connections: connections.size,
      requests: [...connections].filter(({ isBusy }) => isBusy).length,
    }),
    setTls: ({ cert, key }) => {
      if (tls === undefined) throw new Error('this listener does not use TLS')
      secureContext = createSecureContext({ cert, key }).context
    },
    stop: async (graceMs) => {
      isStopping = true
      server.stop()
      const cut = setTimeout(() => server.stop(true), graceMs)
      await quiet(Math.min(graceMs, MAX_SECONDS_UNTIL_QUIET * secondMs))
      for (const connection of connections) connection.closeWhenAnswered()
      if (connections.size > 0) await allClosed.promise
      clearTimeout(cut)
      clearInterval(ticking)
    },
  }
}

function tooManyConnections(max: number): RequestProblem {
  return new RequestProblem(
    'too_many_connections',
    `there are more than ${max} connections from this address; close some, or send several requests over one connection`,
  )
}

/** Bun implements this for Node compatibility, without a type; a test checks that it works. */
function setCertificate(socket: Socket<Connection>, secureContext: unknown): void {
  if (!('setKeyCert' in socket) || typeof socket.setKeyCert !== 'function') {
    throw new Error('this version of Bun cannot replace the certificate of a listener')
  }
  socket.setKeyCert(secureContext)
}

/** Drops the slowest clients if more than `maxBytes` are kept for all of them. Buffers that they share count once. */
function dropSlowest(connections: Iterable<Connection>, maxBytes: number): void {
  const fastestFirst = [...connections]
    .filter(({ writer }) => writer.unsentBytes > 0)
    .sort((a, b) => b.pace.bytesPerSecond - a.pace.bytesPerSecond)
  const kept = new Set<ArrayBufferLike>()
  let keptBytes = 0
  for (const connection of fastestFirst) {
    const added = connection.writer.collectUnsent().difference(kept)
    const bytes = keptBytes + added.values().reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (bytes > maxBytes) connection.terminate()
    else {
      keptBytes = bytes
      for (const buffer of added) kept.add(buffer)
    }
  }
}
