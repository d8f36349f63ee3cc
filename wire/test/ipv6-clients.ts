/** Connects from each of the given IPv6 addresses to a listener, and prints the statuses of the responses. */
import { echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'

const [maxConnectionsPerAddress, ...addresses] = process.argv.slice(2)
const listener = listenWith(
  // The connections of authenticated clients are not replaced.
  async (request) => ({ ...(await echo(request)), isClientAuthenticated: true }),
  { host: '::', maxConnectionsPerAddress: Number(maxConnectionsPerAddress) },
)
const statuses: (number | undefined)[] = []
for (const localAddress of addresses) {
  const socket = await HostileSocket.open(listener.port, { host: '::1', localAddress })
  socket.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  statuses.push((await socket.answer())?.status)
}
console.log(JSON.stringify(statuses))
await listener.stop(0)
