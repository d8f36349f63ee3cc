import { connect, createServer, type Socket } from 'node:net'

/** Passes bytes on to a port of this machine, until it is frozen: then it swallows them, as a dead network does. */
export class FreezingProxy {
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets = new Set<Socket>()
  #isFrozen = false

  static async open(target: number): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  private constructor(target: number) {
    this.#server = createServer((near) => {
      this.#sockets.add(near)
      near.on('error', () => {})
      if (this.#isFrozen) return
      const far = connect(target, '127.0.0.1')
      this.#sockets.add(far)
      far.on('error', () => {})
      const pass = (from: Socket, to: Socket) => {
        from.on('data', (bytes) => {
          if (!this.#isFrozen) to.write(bytes)
        })
        from.on('close', () => {
          if (!this.#isFrozen) to.destroy()
        })
      }
      pass(near, far)
      pass(far, near)
    })
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  freeze(): void {
    this.#isFrozen = true
  }

  /** New connections go through again; those that were frozen stay dead. */
  thaw(): void {
    this.#isFrozen = false
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data')
      this.#sockets.delete(socket)
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}
