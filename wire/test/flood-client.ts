/** Sends endless requests over several connections, as fast as the server reads, and reads the responses. */
import { connect } from 'node:net'

const [port, connections, path = '/flood'] = process.argv.slice(2)
const REQUESTS = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(4_000))

for (let opened = 0; opened < Number(connections); opened++) {
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  const send = () => {
    while (socket.write(REQUESTS)) {}
  }
  socket.on('connect', send)
  socket.on('drain', send)
  socket.on('data', () => {})
  socket.on('error', () => process.exit(1))
}
