import { createHmac } from 'node:crypto'
import { stopAfterTest } from './stop-after-test.ts'

export interface Received {
  readonly id: string
  readonly seconds: number
  readonly signatures: readonly string[]
  readonly path: string
  readonly traceparent: string
  readonly text: string
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the test expects it to be
  readonly data: any
}

type Reply = (received: Received, number: number) => Response | Promise<Response>

/** A real receiver on loopback, which accepts everything unless a test sets another answer. */
export class WebhookReceiver {
  readonly all: Received[] = []
  reply: Reply = () => new Response(null, { status: 204 })
  readonly #server: Bun.Server<undefined>

  constructor(port = 0, hostname = '127.0.0.1') {
    this.#server = Bun.serve({
      hostname,
      port,
      idleTimeout: 30,
      fetch: async (request) => {
        const text = await request.text()
        const { type, data } = JSON.parse(text)
        const header = (name: string) => request.headers.get(name) ?? ''
        const received = {
          id: header('webhook-id'),
          seconds: Number(header('webhook-timestamp')),
          signatures: header('webhook-signature').split(' '),
          path: new URL(request.url).pathname,
          text,
          type,
          data,
          traceparent: header('traceparent'),
        }
        this.all.push(received)
        return this.reply(received, this.all.length)
      },
    })
    stopAfterTest(() => this.stop())
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`
  }

  get port(): number {
    if (this.#server.port === undefined) throw new Error('the receiver does not listen')
    return this.#server.port
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }
}

/** An independent implementation of the specification: HMAC of id, time and body, in base64. */
export function signed({ id, seconds, text }: Received, secret: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64')}`
}
