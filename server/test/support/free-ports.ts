/** Below the range from which the system takes ports for connections: nothing takes them while a program restarts. */
const FIRST = 20_000
const COUNT = 12_000

export function freePorts(count: number): number[] {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => {} } }).stop(true)
      ports.add(port)
    } catch {
      // Another program listens on it.
    }
  }
  return [...ports]
}
