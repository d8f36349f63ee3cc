import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Received, signed } from '../../support/webhook-receiver.ts'

/** The share of requests with each fault. */
const CHANCES = { error: 0.03, busy: 0.01, cut: 0.02, hang: 0.001 } as const

/** A receiver that fails at random: responds 500 or 429, cuts the connection before or after accepting, or hangs. */
export class FaultyReceiver {
  /** Deliveries that got 2xx, or may have: in order of arrival, including repeats. */
  readonly taken: Received[] = []
  readonly violations: string[] = []
  attempts = 0
  isFaulty = true
  secret = ''
  readonly #random: () => number
  readonly #server: Server

  constructor(random: () => number) {
    this.#random = random
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
    return `http://127.0.0.1:${address.port}/hook`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    this.attempts++
    const received = receivedFrom(request, text)
    if (!received.signatures.includes(signed(received, this.secret)))
      this.violations.push(`${received.id} is not signed with the secret`)
    let chance = this.isFaulty ? this.#random() : 1
    const happens = (trouble: keyof typeof CHANCES) => {
      chance -= CHANCES[trouble]
      return chance < 0
    }
    if (happens('error')) response.writeHead(500).end('not today')
    else if (happens('busy')) response.writeHead(429, { 'Retry-After': '1' }).end()
    else if (happens('hang')) return
    else {
      // A delivery that is cut off was accepted: it will be repeated.
      this.taken.push(received)
      if (happens('cut')) request.socket.destroy()
      else response.writeHead(204).end()
    }
  }
}

function receivedFrom({ headers, url = '' }: IncomingMessage, text: string): Received {
  const { type, data } = JSON.parse(text)
  return {
    id: String(headers['webhook-id']),
    seconds: Number(headers['webhook-timestamp']),
    path: url,
    signatures: String(headers['webhook-signature']).split(' '),
    text,
    type,
    data,
    traceparent: String(headers.traceparent),
  }
}
