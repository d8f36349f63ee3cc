import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A proxy that cuts each connection after a random number of bytes. */
export class CuttingProxy {
  cuts = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(
    target: { readonly port: number },
    fewestBytes: number,
    mostBytes: number,
  ): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, () => fewestBytes + Math.random() * (mostBytes - fewestBytes))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(target: { readonly port: number }, drawBytes: () => number) {
    this.#server = createServer((near) => this.#join(near, connect(target.port, '127.0.0.1'), drawBytes()))
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #join(near: Socket, far: Socket, bytes: number): void {
    let left = Math.floor(bytes)
    const close = () => {
      near.destroy()
      far.destroy()
      this.#sockets.delete(near)
    }
    this.#sockets.add(near)
    near.on('data', (data) => far.write(data))
    far.on('data', (data: Buffer) => {
      if (left <= 0) return
      if (data.length < left) {
        left -= data.length
        near.write(data)
        return
      }
      // Most cuts are within a line. They are delayed, because some runtimes drop unread data of a closed connection.
      near.write(data.subarray(0, left))
      setTimeout(close, Math.random() * 10)
      left = 0
      this.cuts++
    })
    for (const socket of [near, far]) {
      socket.on('error', close)
      socket.on('close', close)
    }
  }
}
