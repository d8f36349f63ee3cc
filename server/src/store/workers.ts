import { parentPort, type Worker } from 'node:worker_threads'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { FoundPet } from '../core/catalog/search.ts'
import { ERROR_CODES, ServiceError } from '../core/values/errors.ts'
import type { PetSearch, SearchRequest } from './search.ts'
import type { SqlValue, StoreClock } from './sql.ts'

/**
 * The address of a worker, given the path of its source below `server/src`. The workers are arguments of
 * `bun build --compile`, which puts each of them at the same path below the root of the executable.
 */
export function workerAddress(path: string): string | URL {
  const isExecutable = import.meta.url.includes('$bunfs')
  return isExecutable ? `/$bunfs/root/${path.replace(/ts$/, 'js')}` : new URL(`../${path}`, import.meta.url)
}

/** What the continuous backup of a SQLite file asks for: see LogCopy. */
export type LogStep = 'copy' | 'restart' | 'discard'

type ReaderRequest =
  | ({ readonly type: 'search' } & SearchRequest)
  | { readonly type: 'prepare' }
  | { readonly type: 'rows'; readonly text: string; readonly values: readonly SqlValue[] }
  | { readonly type: 'log'; readonly step: LogStep }
  | { readonly type: 'close' }

export interface ReaderMessage {
  readonly number: number
  readonly request: ReaderRequest
}

export type ReaderAnswer =
  | { readonly type: 'result'; readonly number: number; readonly result: unknown }
  | { readonly type: 'failure'; readonly number: number; readonly failure: ReaderFailure }

/** An error that can be sent as a message. Structured cloning would lose the class of an error. */
interface ReaderFailure {
  readonly code: string | undefined
  readonly message: string
  readonly cause: string | undefined
}

/** The part of a worker thread that a `Reader` uses. */
export interface ReaderWorker extends Pick<Worker, 'ref' | 'unref' | 'terminate'> {
  postMessage(message: ReaderMessage): void
  on(event: 'message', listener: (answer: ReaderAnswer) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

/** The other end of a `ReaderWorker`. */
export interface ReaderPort {
  postMessage(answer: ReaderAnswer): void
  on(event: 'message', listener: (message: ReaderMessage) => void): unknown
}

interface ReaderOptions {
  /** All answers pass through this function, which can hold them back until the data in them is on disk. */
  readonly deliver?: <T>(answer: T) => Promise<T>
  /** If searches are pending and the worker answers nothing for this time, another worker replaces it. */
  readonly maxSilenceMs?: number
}

/**
 * Sends reads that would block the event loop to a worker thread, where `answerRequests` answers them. The first request starts
 * the worker.
 */
export class Reader {
  readonly #start: () => ReaderWorker
  readonly #deliver: <T>(answer: T) => Promise<T>
  readonly #maxSilenceMs: number | undefined
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #pendingSearches = new Set<number>()
  #worker: ReaderWorker | undefined
  #silenceTimer: ReturnType<typeof setTimeout> | undefined
  #lastNumber = 0
  #isClosed = false

  constructor(
    start: () => ReaderWorker,
    { deliver = async (answer) => answer, maxSilenceMs }: ReaderOptions = {},
  ) {
    this.#start = start
    this.#deliver = deliver
    this.#maxSilenceMs = maxSilenceMs
  }

  /** `Result` must be the type that the worker returns for this type of request. */
  async ask<Result>(request: ReaderRequest): Promise<Result> {
    if (this.#isClosed) throw new ServiceError('service_unavailable', 'the store is closed')
    return this.#deliver(await this.#send<Result>(request))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.ask<Row[]>({ type: 'rows', text, values })
  }

  /** Terminates the worker after it has closed its connections. Rejects requests that are still pending. */
  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    if (worker === undefined) return
    await this.#send<void>({ type: 'close' }).catch(() => {})
    this.#worker = undefined
    this.#rejectPending(new ServiceError('service_unavailable', 'the store is closed'))
    await worker.terminate()
  }

  #send<Result>(request: ReaderRequest): Promise<Result> {
    const worker = this.#startedWorker()
    const number = ++this.#lastNumber
    // The worker's answer has the type that the caller of `ask` expects.
    const answer = Promise.withResolvers<unknown>() as PromiseWithResolvers<unknown> &
      PromiseWithResolvers<Result>
    this.#pending.set(number, answer)
    if (request.type === 'search') {
      this.#pendingSearches.add(number)
      if (this.#silenceTimer === undefined) this.#restartSilenceTimer()
    }
    // The process may end while the worker is idle, but not while an answer is pending.
    worker.ref()
    worker.postMessage({ number, request } satisfies ReaderMessage)
    return answer.promise
  }

  #startedWorker(): ReaderWorker {
    if (this.#worker !== undefined) return this.#worker
    const worker = this.#start()
    worker.on('message', (answer: ReaderAnswer) => this.#receive(answer))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', (code) => this.#fail(worker, new Error(`the worker exited with code ${code}`)))
    this.#worker = worker
    return worker
  }

  #receive(answer: ReaderAnswer): void {
    const pending = this.#pending.get(answer.number)
    this.#pending.delete(answer.number)
    this.#pendingSearches.delete(answer.number)
    this.#restartSilenceTimer()
    if (this.#pending.size === 0) this.#worker?.unref()
    switch (answer.type) {
      case 'result':
        pending?.resolve(answer.result)
        break
      case 'failure':
        pending?.reject(fromFailure(answer.failure))
        break
    }
  }

  /** Rejects all pending requests. The next request starts another worker. */
  #fail(worker: ReaderWorker, reason: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    void worker.terminate()
    const error = new ServiceError(
      'service_unavailable',
      'the database cannot be read at the moment; try again shortly',
      { cause: new Error('the reader worker failed', { cause: reason }) },
    )
    this.#rejectPending(error)
  }

  #rejectPending(error: ServiceError): void {
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
    this.#pendingSearches.clear()
    this.#restartSilenceTimer()
  }

  /** Measures the silence from now on. Stops the timer if no search is pending. */
  #restartSilenceTimer(): void {
    clearTimeout(this.#silenceTimer)
    this.#silenceTimer = undefined
    const worker = this.#worker
    const maxSilenceMs = this.#maxSilenceMs
    if (worker === undefined || maxSilenceMs === undefined || this.#pendingSearches.size === 0) return
    this.#silenceTimer = setTimeout(() => {
      this.#fail(worker, new Error(`the worker answered nothing for ${maxSilenceMs} ms`))
    }, maxSilenceMs)
  }
}

/** The maximum duration of a search. A search of 1,000,000 pets takes a fiftieth of this time. */
export const SEARCH_BUDGET_MS = 2_000

/** The main thread's methods. They send the searches to the reader worker. */
export function searchMethods(
  reader: Reader,
  clock: StoreClock,
): Pick<CatalogStore, 'searchPets' | 'prepareSearch'> {
  return {
    searchPets: (search, window) => {
      const request = { search, ...window, now: clock.processTime(), budgetMs: SEARCH_BUDGET_MS }
      return reader.ask<FoundPet[]>({ type: 'search', ...request })
    },
    prepareSearch: () => reader.ask<void>({ type: 'prepare' }),
  }
}

/** How often the search index catches up with the log, so that each search has to apply only few changes. */
const FOLLOW_EVERY_MS = 1_000

export interface ReaderParts {
  readonly search: PetSearch
  readonly rows: (request: Extract<ReaderRequest, { type: 'rows' }>) => Promise<unknown>
  readonly log?: (step: LogStep) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Answers the requests of a `Reader`, in the worker. Searches run one after the other; other reads do not wait. */
export function answerRequests(
  { search, rows, log = async () => {}, close }: ReaderParts,
  port: ReaderPort | null = parentPort,
): void {
  if (port === null) throw new Error('answerRequests must run in a worker')
  const post = (answer: ReaderAnswer) => port.postMessage(answer)
  let lastSearch: Promise<unknown> = Promise.resolve()
  const afterLastSearch = <T>(work: () => Promise<T>): Promise<T> => {
    const result = lastSearch.then(work)
    lastSearch = result.catch(() => {})
    return result
  }
  let isFollowing = false
  const followTimer = setInterval(() => {
    if (isFollowing) return
    isFollowing = true
    // A failure is ignored here, because the next search fails for the same reason and reports it.
    void afterLastSearch(() => search.follow())
      .catch(() => {})
      .finally(() => {
        isFollowing = false
      })
  }, FOLLOW_EVERY_MS)
  const answer = (request: ReaderRequest): Promise<unknown> => {
    switch (request.type) {
      case 'search':
        return afterLastSearch(() => search.search(request))
      case 'prepare':
        return afterLastSearch(() => search.startPreparing()).then(() => search.whenLoaded())
      case 'rows':
        return rows(request)
      case 'log':
        return log(request.step)
      case 'close':
        clearInterval(followTimer)
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
  const isServiceError = error instanceof ServiceError
  const cause = isServiceError ? error.cause : error
  return {
    code: isServiceError ? error.code : undefined,
    message: error instanceof Error ? error.message : String(error),
    cause: causeText(cause),
  }
}

function causeText(cause: unknown): string | undefined {
  if (cause === undefined) return undefined
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

function fromFailure({ code, message, cause }: ReaderFailure): Error {
  const options = cause === undefined ? {} : { cause: new Error(cause) }
  const serviceCode = ERROR_CODES.find((known) => known === code)
  return serviceCode === undefined
    ? new Error(message, options)
    : new ServiceError(serviceCode, message, options)
}
