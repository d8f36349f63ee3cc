import { createSecureContext } from 'node:tls'
import type { Socket } from 'bun'
import { Connection } from './connection.ts'
import type { Handler } from './request.ts'
import { RequestProblem } from './request-problem.ts'
import { endSlowest } from './slow-readers.ts'
import type { Tls } from './tls.ts'

export interface Listener {
  readonly port: number
  /** What is there at this moment: connections, and requests that are being answered. */
  load(): { readonly connections: number; readonly requests: number }
  /** Connections from now on are shown this certificate; those that are there go on. */
  setTls(tls: Tls): void
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
  /**
   * A socket that listens already, which was passed to this process: connections wait in it while no process serves.
   * `host` and `port` then only tell where that is.
   */
  readonly fd?: number
  /** From the opening of a connection until its first byte. */
  readonly firstByteTimeoutSeconds?: number
  /** Between an answer and the first byte of the next request. */
  readonly keepAliveSeconds?: number
  /** To agree on TLS, and from the first byte of a request until all of it is here. */
  readonly requestTimeoutSeconds?: number
  /** To take anything of what there is to send. */
  readonly writeTimeoutSeconds?: number
  /** At the limit, a new connection replaces the oldest idle one without a known client. If there is none, it is refused. */
  readonly maxConnectionsPerAddress?: number
  /** Of what is kept for slow readers, all of them together; beyond it the slowest are ended. */
  readonly maxUnsentBytes?: number
  /** How long a second is; tests make it shorter. */
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
/** Connections of one address that are told why they are refused; any more are just closed. */
const MAX_REFUSALS_PER_ADDRESS = 1_000
/** Beside once a second, it is looked at what slow readers hold when there are so many more of them. */
const UNSENT_ANSWERS_BETWEEN_CHECKS = 16
/**
 * A connection that is idle when it is closed may have its next request on the way. So the answers say `Connection: close`
 * for a while first, and connections in use end by themselves; the others are closed when nothing has come over any of
 * them for a second, or after MAX_SECONDS_UNTIL_QUIET. It is looked at several times in that second: a machine that stood
 * still for so long was not quiet.
 */
const LOOKS_IN_A_QUIET_SECOND = 10
const MAX_SECONDS_UNTIL_QUIET = 5

/** HTTP/1.1 on a port. The only file that knows how Bun listens. */
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
  const emptied = Promise.withResolvers<void>()
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
        endSlowest(connections, limits.maxUnsentBytes)
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
   * Makes room for one more connection of an address by closing its oldest expendable ones. Returns by how many connections
   * the address exceeds its limit with the new one. Refused connections that are still closing count as well.
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
    // With it, `open` does not wait for the end of a handshake, which may never come.
    handshake({ data }: Socket<Connection>, isAgreed: boolean) {
      if (isAgreed) data.onOpen()
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
      if (isStopping && connections.size === 0) emptied.resolve()
    },
    // Of TLS: what we do ourselves does not throw.
    error: (socket: Socket<Connection>) => socket.terminate(),
  }
  const listenOptions = {
    hostname: host,
    port,
    reusePort: isShared,
    // Not in the types of Bun; a test holds it to that.
    ...(fd === undefined ? {} : { fd }),
    // One that sends nothing more may still read.
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
        ? `port ${port} on ${host} is taken; stop what uses it, or choose another with ${flags.port}`
        : `cannot listen on ${host} port ${port}; check ${flags.host} and ${flags.port}`
    throw new Error(reason, { cause: error })
  }
  const ticking = setInterval(() => {
    seconds++
    for (const connection of connections) connection.onTick()
    endSlowest(connections, limits.maxUnsentBytes)
  }, secondMs)

  /** Resolves when nothing has come for a second, or nobody is left. */
  const quiet = async (maxMs: number): Promise<void> => {
    const deadline = performance.now() + maxMs
    let quietLooks = seconds - lastArrival > 1 ? LOOKS_IN_A_QUIET_SECOND : 0
    while (connections.size > 0 && quietLooks < LOOKS_IN_A_QUIET_SECOND && performance.now() < deadline) {
      const before = arrivals
      await Promise.race([Bun.sleep(secondMs / LOOKS_IN_A_QUIET_SECOND), emptied.promise])
      quietLooks = arrivals === before ? quietLooks + 1 : 0
    }
  }

  return {
    port: fd === undefined ? server.port : port,
    load: () => ({
      connections: connections.size,
      requests: [...connections].filter(({ isBusy }) => isBusy).length,
    }),
    setTls: ({ cert, key }) => {
      if (tls === undefined) throw new Error('this listener does not speak TLS')
      secureContext = createSecureContext({ cert, key }).context
    },
    stop: async (graceMs) => {
      isStopping = true
      server.stop()
      const cut = setTimeout(() => server.stop(true), graceMs)
      await quiet(Math.min(graceMs, MAX_SECONDS_UNTIL_QUIET * secondMs))
      for (const connection of connections) connection.closeWhenAnswered()
      if (connections.size > 0) await emptied.promise
      clearTimeout(cut)
      clearInterval(ticking)
    },
  }
}

function tooManyConnections(max: number): RequestProblem {
  return new RequestProblem(
    'too_many_connections',
    `there are more than ${max} connections from this address; close some, or use them for more than one request`,
  )
}

/** Bun has it for the sake of Node, and names it in no type; a test holds it to that. */
function setCertificate(socket: Socket<Connection>, secureContext: unknown): void {
  if (!('setKeyCert' in socket) || typeof socket.setKeyCert !== 'function') {
    throw new Error('this version of Bun cannot replace the certificate of a listener')
  }
  socket.setKeyCert(secureContext)
}
