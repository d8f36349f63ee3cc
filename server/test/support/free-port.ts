/** Below the ephemeral ports: while a server restarts, no connection can take its port. */
const LOWEST = 20_000
const PORTS_PER_PROCESS = 20
const PROCESSES = 600

// Tests run in several processes at once. Each of them uses its own range.
let next = LOWEST + (process.pid % PROCESSES) * PORTS_PER_PROCESS

/** An unused port of 127.0.0.1, for a server that cannot choose its port itself or keeps it across a restart. */
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
