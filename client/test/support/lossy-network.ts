import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { randomFrom } from '../../../server/scripts/torture-task.ts'

/** The part of an exchange that is lost with its connection. */
export const LOSSES = ['request', 'half of the request', 'answer', 'half of the answer'] as const
type Loss = (typeof LOSSES)[number]

/** A network that loses a share of all requests. The seed decides what happens to the n-th request. */
export class LossyNetwork {
  /** All requests that were sent, including lost ones. */
  requests = 0
  readonly losses = new Map<Loss, number>()
  readonly #draw: () => Loss | undefined
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()

  constructor(seed: number, share: number) {
    const random = randomFrom(seed)
    this.#draw = () => (random() < share ? LOSSES[Math.floor(random() * LOSSES.length)] : undefined)
  }

  /** The address of a proxy to the service, through this network. */
  async wayTo(address: string): Promise<string> {
    const server = createServer({ noDelay: true }, (near) => this.#join(near, Number(new URL(address).port)))
    this.#servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const own = server.address()
    if (own === null || typeof own === 'string') throw new Error('the network listens on no port')
    return `http://127.0.0.1:${own.port}`
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    for (const server of this.#servers) server.close()
  }

  /** Requests on a connection are sequential, so the data after a response begins the next request. */
  #join(near: Socket, port: number): void {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    let isUnderWay = false
    let loss: Loss | undefined
    near.on('data', (bytes: Buffer) => {
      if (!isUnderWay) loss = this.#beginRequest()
      isUnderWay = true
      if (loss === 'request') near.destroy()
      else if (loss === 'half of the request') far.write(half(bytes), () => near.destroy())
      else far.write(bytes)
    })
    far.on('data', (bytes: Buffer) => {
      isUnderWay = false
      if (loss === 'answer') near.destroy()
      else if (loss === 'half of the answer') near.write(half(bytes), () => near.destroy())
      else near.write(bytes)
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
  }

  #beginRequest(): Loss | undefined {
    this.requests++
    const loss = this.#draw()
    if (loss !== undefined) this.losses.set(loss, (this.losses.get(loss) ?? 0) + 1)
    return loss
  }
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length / 2))
}
