import { parentPort, type Worker } from 'node:worker_threads'
import type { InventorySearch, SearchWindow } from '../core/catalog/search.ts'
import { ERROR_CODES, ServiceError } from '../core/values/errors.ts'
import type { SqlValue } from './sql.ts'

/**
 * The address of a worker's source, given its path below `server/src`. In the executable, `bun build --compile` puts the
 * workers that its command line names at the same path below its own root.
 */
export function workerAddress(path: string): string | URL {
  const isExecutable = import.meta.url.includes('$bunfs')
  return isExecutable ? `/$bunfs/root/${path.replace(/ts$/, 'js')}` : new URL(`../${path}`, import.meta.url)
}

/** A request of the main thread to the reader worker. */
type ReaderRequest =
  | ({ readonly type: 'search' } & SearchRequest)
  | { readonly type: 'prepare' }
  | { readonly type: 'rows'; readonly text: string; readonly values: readonly SqlValue[] }
  | { readonly type: 'close' }

export interface SearchRequest extends SearchWindow {
  readonly search: InventorySearch
  /** The result of `StoreClock.given`. Holds that have expired by this time reserve nothing. */
  readonly now: number | null
  readonly budgetMs: number
}

interface ReaderMessage {
  readonly number: number
  readonly request: ReaderRequest
}

type ReaderAnswer =
  | { readonly type: 'result'; readonly number: number; readonly result: unknown }
  | { readonly type: 'failure'; readonly number: number; readonly failure: ReaderFailure }

/** An error as a message, because structured cloning would lose its class. */
interface ReaderFailure {
  readonly code: string | undefined
  readonly message: string
  readonly cause: string
}

/**
 * The main thread's side of a worker thread that runs reads which would block the event loop. The worker starts with the
 * first request. All answers pass through `deliver`, which can delay them until the data in them is durable.
 */
export class Reader {
  readonly #start: () => Worker
  readonly #deliver: <T>(answer: T) => Promise<T>
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #worker: Worker | undefined
  #lastNumber = 0
  #isClosed = false

  constructor(start: () => Worker, deliver: <T>(answer: T) => Promise<T> = async (answer) => answer) {
    this.#start = start
    this.#deliver = deliver
  }

  /** `Result` is the type that the worker returns for this type of request. */
  async ask<Result>(request: ReaderRequest): Promise<Result> {
    if (this.#isClosed) throw new ServiceError('service_unavailable', 'the store is closed')
    return this.#deliver(await this.#send<Result>(request))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.ask<Row[]>({ type: 'rows', text, values })
  }

  /** Lets the worker close its connections first. */
  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    if (worker === undefined) return
    await this.#send<void>({ type: 'close' }).catch(() => {})
    this.#worker = undefined
    await worker.terminate()
  }

  #send<Result>(request: ReaderRequest): Promise<Result> {
    const worker = this.#running()
    const number = ++this.#lastNumber
    // The worker's answer has the type that the caller of `ask` expects.
    const answer = Promise.withResolvers<unknown>() as PromiseWithResolvers<unknown> &
      PromiseWithResolvers<Result>
    this.#pending.set(number, answer)
    // The process may end while the worker is idle, but not while an answer is pending.
    worker.ref()
    worker.postMessage({ number, request } satisfies ReaderMessage)
    return answer.promise
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = this.#start()
    worker.on('message', (answer: ReaderAnswer) => this.#receive(answer))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', (code) => this.#fail(worker, new Error(`it exited with code ${code}`)))
    this.#worker = worker
    return worker
  }

  #receive(answer: ReaderAnswer): void {
    const waiting = this.#pending.get(answer.number)
    this.#pending.delete(answer.number)
    if (this.#pending.size === 0) this.#worker?.unref()
    switch (answer.type) {
      case 'result':
        waiting?.resolve(answer.result)
        break
      case 'failure':
        waiting?.reject(fromFailure(answer.failure))
        break
    }
  }

  /** The next request starts another worker. */
  #fail(worker: Worker, reason: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    void worker.terminate()
    const error = new ServiceError(
      'service_unavailable',
      'the database cannot be read at the moment; try again shortly',
      { cause: new Error('the reader worker failed', { cause: reason }) },
    )
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

/** The index catches up with the log this often, so that a search after a quiet hour finds few changes. */
const FOLLOW_EVERY_MS = 1_000

interface ReaderParts {
  readonly search: {
    search(request: SearchRequest): Promise<unknown>
    startPreparing(): Promise<void>
    whenLoaded(): Promise<void>
    follow(): Promise<void>
  }
  readonly rows: (request: Extract<ReaderRequest, { type: 'rows' }>) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** The worker's side: answers the requests of the main thread. Searches run one after the other, other reads at any time. */
export function answerRequests({ search, rows, close }: ReaderParts): void {
  const port = parentPort
  if (port === null) throw new Error('answerRequests must run in a worker')
  const post = (answer: ReaderAnswer) => port.postMessage(answer)
  let lastSearch: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = lastSearch.then(work)
    lastSearch = turn.catch(() => {})
    return turn
  }
  let isFollowing = false
  const following = setInterval(() => {
    if (isFollowing) return
    isFollowing = true
    // The next search fails for the same reason and reports it.
    void inTurn(() => search.follow())
      .catch(() => {})
      .finally(() => {
        isFollowing = false
      })
  }, FOLLOW_EVERY_MS)
  const answer = (request: ReaderRequest): Promise<unknown> => {
    switch (request.type) {
      case 'search':
        return inTurn(() => search.search(request))
      case 'prepare':
        return inTurn(() => search.startPreparing()).then(() => search.whenLoaded())
      case 'rows':
        return rows(request)
      case 'close':
        clearInterval(following)
        return close()
    }
  }
  port.on('message', ({ number, request }: ReaderMessage) => {
    answer(request).then(
      (result) => post({ type: 'result', number, result }),
      (error: unknown) => post({ type: 'failure', number, failure: toFailure(error) }),
    )
  })
}

function toFailure(error: unknown): ReaderFailure {
  const isKnown = error instanceof ServiceError
  const cause = isKnown ? (error.cause ?? error) : error
  return {
    code: isKnown ? error.code : undefined,
    message: error instanceof Error ? error.message : String(error),
    cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  }
}

function fromFailure({ code, message, cause }: ReaderFailure): Error {
  const known = ERROR_CODES.find((candidate) => candidate === code)
  if (known === undefined) return new Error(message, { cause: new Error(cause) })
  return new ServiceError(known, message, { cause: new Error(cause) })
}
