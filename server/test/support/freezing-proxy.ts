import { connect, createServer, type Socket } from 'node:net'

/**
 * Forwards bytes to a port of this machine, with an optional delay. While frozen it drops them, like a dead
 * network. New connections can be sent to another port, as by a balancer that has found another primary.
 */
export class FreezingProxy {
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets = new Set<Socket>()
  #target: number
  #isFrozen = false
  #delayMs = 0

  static async open(target: number): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((near) => {
      this.#sockets.add(near)
      near.on('error', () => {})
      if (this.#isFrozen) return
      const far = connect(this.#target, '127.0.0.1')
      this.#sockets.add(far)
      far.on('error', () => {})
      const pass = (from: Socket, to: Socket) => {
        let lastDue = 0
        from.on('data', (bytes) => {
          if (this.#isFrozen) return
          const now = performance.now()
          // Never before earlier data, even if the delay has become shorter.
          lastDue = Math.max(lastDue, now + this.#delayMs)
          if (lastDue === now) to.write(bytes)
          else setTimeout(() => to.write(bytes), lastDue - now)
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

  /** From now on everything is delayed by this time, in both directions. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Existing connections stay. */
  switchTo(target: number): void {
    this.#target = target
  }

  freeze(): void {
    this.#isFrozen = true
  }

  /** New connections work again; frozen ones stay dead. */
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
