/** Below the ports that the system gives to connections: while a server restarts, no connection can take its port. */
const LOWEST = 20_000
const PORTS_PER_PROCESS = 20
const PROCESSES = 600

// Tests run in several processes at once. Each of them looks in a range of its own.
let next = LOWEST + (process.pid % PROCESSES) * PORTS_PER_PROCESS

/** A port of 127.0.0.1 on which nobody listens, for a server that cannot choose its port itself or keeps it over a restart. */
export function freePort(): number {
  for (;;) {
    const port = next++
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => {} } }).stop(true)
      return port
    } catch {
      // Another program listens there.
    }
  }
}
