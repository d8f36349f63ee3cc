import { HostileSocket } from '../../../../wire/test/hostile-socket.ts'
import type { Store } from '../../../src/store/store.ts'
import { Random } from '../../sim/random.ts'
import { checkAgainstContract } from '../../support/contract-check.ts'
import { startExampleShop } from '../../support/example-requests.ts'
import type { TestService } from '../../support/test-service.ts'
import { type FuzzRequest, nextRequest, Seen } from './requests.ts'

/** Callers that send at once, each with random choices of its own. */
const LANES = 8
const REQUESTS_PER_ROUND = 250
const MAX_ATTEMPTS = 5

export interface FuzzOptions {
  readonly seed: number
  readonly onPostgres: boolean
  /** Whether to stop, called between rounds with the number of requests. */
  readonly isOver: (requests: number) => boolean
  /** Injects a fault. */
  readonly wrapStore?: (store: Store) => Store
}

export interface FuzzOutcome {
  readonly requests: number
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** The operations that had a response below 400. */
  readonly succeeded: ReadonlySet<string>
  readonly violations: readonly string[]
}

/** Sends requests generated from the contract to a real service, and returns every wrong response. */
export async function fuzz({ seed, isOver, ...options }: FuzzOptions): Promise<FuzzOutcome> {
  const service = await startExampleShop({ ...options, realTime: true, anonymousPerMinute: 1_000_000_000 })
  const run = new FuzzRun(service, await service.createKey('enterprise'), seed)
  try {
    while (!isOver(run.requests) && run.violations.length === 0) await run.round()
    run.violations.push(...(await service.store.findDamage()))
  } finally {
    run.end()
    await service.stop()
  }
  return run
}

class FuzzRun implements FuzzOutcome {
  requests = 0
  readonly statuses: Record<number, number> = {}
  readonly succeeded = new Set<string>()
  readonly violations: string[] = []
  readonly #service: TestService
  readonly #secret: string
  readonly #lanes: readonly { readonly random: Random; readonly seen: Seen }[]
  readonly #sockets: (HostileSocket | undefined)[] = []

  constructor(service: TestService, key: { readonly id: string; readonly secret: string }, seed: number) {
    this.#service = service
    this.#secret = key.secret
    this.#lanes = Array.from({ length: LANES }, (_, lane) => ({
      random: new Random(seed * LANES + lane),
      seen: new Seen(key.id),
    }))
  }

  async round(): Promise<void> {
    const sendAll = async ({ random, seen }: { random: Random; seen: Seen }, lane: number) => {
      for (let sent = 0; sent < REQUESTS_PER_ROUND && this.violations.length === 0; sent++) {
        await this.#send(lane, nextRequest(random, this.#secret, seen), seen)
      }
    }
    await Promise.all(this.#lanes.map(sendAll))
  }

  end(): void {
    for (const socket of this.#sockets) socket?.end()
  }

  /** On a busy machine the database may answer too late, which is 503: the request is then sent again. */
  async #send(lane: number, request: FuzzRequest, seen: Seen, attempt = 1): Promise<void> {
    let socket = this.#sockets[lane]
    if (socket === undefined || socket.isClosed) {
      socket = await HostileSocket.open(this.#service.port)
      this.#sockets[lane] = socket
    }
    socket.send(request.bytes)
    this.requests++
    const answer = await socket.answer(request.method)
    if (answer === undefined) {
      this.#complain(request, 'the connection was closed without a response')
      return
    }
    const { status, headers, text } = answer
    if (status === 503 && attempt < MAX_ATTEMPTS) {
      await Bun.sleep(1_000)
      return this.#send(lane, request, seen, attempt + 1)
    }
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (status < 400 && request.operationId !== undefined) this.succeeded.add(request.operationId)
    if (status >= 500) this.#complain(request, `${status} ${text}`)
    else {
      try {
        // A path that leads elsewhere is only checked against the form of errors.
        checkAgainstContract(
          request.method,
          request.operationId === undefined ? '/nowhere' : request.path,
          answer,
        )
      } catch (error) {
        this.#complain(request, String(error))
      }
    }
    seen.add(text, headers)
    // The head of a stream is enough.
    const isStream = headers.get('Content-Type') === 'text/event-stream'
    if (isStream || headers.get('Connection') === 'close') socket.end()
  }

  #complain({ bytes }: FuzzRequest, problem: string): void {
    this.violations.push(`${JSON.stringify(bytes.slice(0, 600))}: ${problem.slice(0, 300)}`)
  }
}
