import type { BodyOutput, HttpRequest, HttpResponse, LiveBody } from '@petstore/wire'
import { RequestProblem } from '@petstore/wire'
import { RequestHeaders } from '../../../wire/src/request.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type Outcome =
  | { readonly type: 'answered'; readonly status: number; readonly head: string; readonly body: string }
  /** The request has not reached the service. */
  | { readonly type: 'refused' }
  /** No response arrived. The request may have arrived. */
  | { readonly type: 'lost' }

interface StreamEvents {
  readonly onText: (text: string) => void
  readonly onEnd: () => void
}

const LATENCY_MS = [0.05, 1] as const
const STREAM_LATENCY_MS = 0.5
/** An impatient caller waits no longer than this. */
const IMPATIENCE_MS = 4
/** The share of requests with an Idempotency-Key that arrive a second time. */
const DOUBLED_CHANCE = 0.1
/** The copy of a request arrives within this time. */
const COPY_DELAY_MS = 5
/** A caller learns after this time that nothing will arrive. */
const LOST_AFTER_MS = 2

/** Carries requests to the handler of the service and its responses back. */
export class Network {
  /** The share of requests, and of responses, that are lost. */
  lossChance = 0.03
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #machine: Machine
  #requests = 0

  constructor(time: VirtualTime, random: Random, machine: Machine) {
    this.#time = time
    this.#random = random
    this.#machine = machine
  }

  async send(request: SentRequest): Promise<Outcome> {
    const { processNumber } = this.#time
    await this.#delay()
    const { handler } = this.#machine
    if (handler === undefined || processNumber !== this.#time.processNumber) return { type: 'refused' }
    if (this.#random.chance(this.lossChance)) {
      await this.#time.sleep(LOST_AFTER_MS)
      return { type: 'lost' }
    }
    if ('Idempotency-Key' in request.headers && this.#random.chance(DOUBLED_CHANCE))
      this.#deliverCopy(request)
    const client = new Client(this.#random.chance(this.lossChance))
    const response = this.#whileRunning(async () => handler.answer(this.#received(request, client)))
    const arrival = this.#arrive(response)
    if (!client.isImpatient) return arrival
    const leaving = this.#time.sleep(this.#random.between(0, IMPATIENCE_MS)).then((): Outcome => {
      client.hasLeft = true
      return { type: 'lost' }
    })
    return Promise.race([arrival, leaving])
  }

  /** Opens an event stream; resolves to a function that cuts it, or to `undefined` if the stream was not opened. */
  async openStream(request: SentRequest, events: StreamEvents): Promise<(() => void) | undefined> {
    await this.#delay()
    const { handler } = this.#machine
    if (handler === undefined) return undefined
    const response = await this.#whileRunning(async () =>
      handler.answer(this.#received(request, new Client(false))),
    )
    const body = response?.body
    if (body === null || typeof body !== 'object' || !('begin' in body)) return undefined
    const stream = new Stream(this.#time, body, events)
    this.#machine.onEnd(() => stream.end())
    body.begin(stream)
    return () => stream.cut()
  }

  /** Delivers a request once more. Nobody waits for the response. */
  #deliverCopy(request: SentRequest): void {
    this.#time.afterForProcess(this.#random.between(0, COPY_DELAY_MS), () => {
      const { handler } = this.#machine
      if (handler === undefined) return
      void this.#whileRunning(async () => handler.answer(this.#received(request, new Client(false))))
    })
  }

  #delay(): Promise<void> {
    return this.#time.sleep(this.#random.between(...LATENCY_MS))
  }

  /** Resolves to `undefined` if the process ends before the response. */
  #whileRunning(answer: () => Promise<HttpResponse>): Promise<HttpResponse | undefined> {
    const machine = this.#machine
    const { processNumber } = this.#time
    machine.openRequests++
    return new Promise((resolve) => {
      const abandon = machine.onEnd(() => resolve(undefined))
      void answer().then((response) => {
        abandon()
        if (processNumber !== this.#time.processNumber) return
        machine.openRequests--
        resolve(response)
      })
    })
  }

  async #arrive(response: Promise<HttpResponse | undefined>): Promise<Outcome> {
    const answer = await response
    if (answer === undefined || this.#random.chance(this.lossChance)) {
      await this.#time.sleep(LOST_AFTER_MS)
      return { type: 'lost' }
    }
    await this.#delay()
    return { type: 'answered', status: answer.status, head: answer.lines, body: textOf(answer) }
  }

  #received({ method, path, headers, body = '' }: SentRequest, client: Client): HttpRequest {
    const [pathname = '', query = ''] = path.split('?')
    const head = { Host: 'shop', 'X-Request-Id': `request-${++this.#requests}`, ...headers }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    return {
      method,
      path: `/v1${pathname}`,
      query,
      headers: new RequestHeaders(lines.join(''), false),
      address: '127.0.0.1',
      get hasClientLeft() {
        return client.hasLeft
      },
      body: () => this.#bodyOf(body, client),
    }
  }

  /** Some bodies arrive after their head, and those of some callers never. */
  #bodyOf(text: string, client: Client): Uint8Array | Promise<Uint8Array> {
    const bytes = Buffer.from(text)
    if (!this.#random.chance(0.1)) return bytes
    return new Promise((resolve, reject) => {
      this.#time.afterForProcess(this.#random.between(...LATENCY_MS), () => {
        if (client.hasLeft) reject(new RequestProblem('incomplete', 'the request body is incomplete'))
        else resolve(bytes)
      })
    })
  }
}

/** Carries an event stream to its reader, as fast as the network allows. */
class Stream implements BodyOutput {
  unsentBytes = 0
  readonly #time: VirtualTime
  readonly #body: LiveBody
  readonly #events: StreamEvents
  readonly #decoder = new TextDecoder()
  #hasEnded = false
  #isCut = false

  constructor(time: VirtualTime, body: LiveBody, events: StreamEvents) {
    this.#time = time
    this.#body = body
    this.#events = events
  }

  send(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true })
    this.unsentBytes += bytes.length
    // What was sent arrives, even if the process ends.
    this.#time.after(STREAM_LATENCY_MS, () => {
      this.unsentBytes -= bytes.length
      if (this.#isCut) return
      this.#events.onText(text)
      if (!this.#hasEnded) this.#body.onBytesSent()
    })
  }

  /** The service ends the stream, or its process ends. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#time.after(STREAM_LATENCY_MS, () => {
      if (!this.#isCut) this.#events.onEnd()
    })
  }

  abort(): void {
    this.end()
  }

  /** The reader is disconnected. */
  cut(): void {
    if (this.#isCut) return
    this.#isCut = true
    if (!this.#hasEnded) this.#body.onClose()
    this.#hasEnded = true
  }
}

class Client {
  readonly isImpatient: boolean
  hasLeft = false

  constructor(isImpatient: boolean) {
    this.isImpatient = isImpatient
  }
}

function textOf({ body }: HttpResponse): string {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  return body !== null && Symbol.iterator in body ? Buffer.concat([...body]).toString() : ''
}
