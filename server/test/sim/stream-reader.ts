import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface ReceivedEvent {
  readonly receivedAt: number
  readonly name: string
  readonly id: string
  readonly data: string
}

interface StreamReaderParts {
  readonly time: VirtualTime
  readonly random: Random
  readonly network: Network
  readonly secret: string
  readonly nextMoment: () => number
  /** The event after which the stream begins. */
  readonly after: string
  /** How long the reader stays connected, on average. */
  readonly connectedMs: number
}

const RECONNECT_MS = 20

/** Reads the event stream, is disconnected at random, and continues after the last event that it has received. */
export class StreamReader {
  readonly events: ReceivedEvent[] = []
  readonly #parts: StreamReaderParts
  #lastId: string

  constructor(parts: StreamReaderParts) {
    this.#parts = parts
    this.#lastId = parts.after
  }

  async run(): Promise<never> {
    const { time, random, network, secret, connectedMs } = this.#parts
    for (;;) {
      let text = ''
      const ended = Promise.withResolvers<void>()
      const cut = await network.openStream(
        {
          method: 'GET',
          path: '/inventory/events',
          headers: { Authorization: `Bearer ${secret}`, 'Last-Event-ID': this.#lastId },
        },
        {
          onText: (more) => {
            const blocks = (text + more).split('\n\n')
            text = blocks.pop() ?? ''
            for (const block of blocks) this.#receive(block)
          },
          onEnd: ended.resolve,
        },
      )
      if (cut !== undefined) {
        await Promise.race([ended.promise, time.sleep(connectedMs * 2 * random.next())])
        cut()
      }
      await time.sleep(RECONNECT_MS)
    }
  }

  #receive(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    const id = field('id')
    const name = field('event')
    if (id === undefined || name === undefined) return
    this.#lastId = id
    this.events.push({ receivedAt: this.#parts.nextMoment(), name, id, data: field('data') ?? '' })
  }
}
