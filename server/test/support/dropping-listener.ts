import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

/** Listens with the shortest queue, and says so. */
const LISTEN = `
  const [host, port] = process.argv.slice(1)
  require('node:net').createServer().listen({ host, port: Number(port), backlog: 1 }, () => console.log('ready'))
`
/** More than the queue holds. Linux drops the packets of the others. */
const CONNECTIONS = 8

export interface DroppingListener {
  close(): Promise<void>
}

/** Listens on an address of this host and drops the packets of every new connection. Works on Linux. */
export async function dropPackets(host: string, port: number): Promise<DroppingListener> {
  const listening = Bun.spawn(['node', '-e', LISTEN, host, String(port)], { stdout: 'pipe' })
  await listening.stdout.getReader().read()
  // A stopped process accepts nothing, so its queue stays full.
  listening.kill('SIGSTOP')
  let connected = 0
  const sockets: Socket[] = Array.from({ length: CONNECTIONS }, () =>
    connect({ host, port })
      .once('connect', () => connected++)
      .on('error', () => {}),
  )
  await until(() => connected >= 2)
  return {
    close: async () => {
      for (const socket of sockets) socket.destroy()
      listening.kill('SIGKILL')
      await listening.exited
    },
  }
}
