import type { Worker } from 'node:worker_threads'
import type { SearchWindow } from '../core/catalog/catalog-store.ts'
import type { InventorySearch } from '../core/catalog/search.ts'
import { ERROR_CODES, ServiceError } from '../core/values/errors.ts'
import type { SqlValue } from './sql.ts'

/** What the main thread asks of the worker that reads. */
export type ReaderRequest =
  | ({ readonly type: 'search' } & SearchRequest)
  | { readonly type: 'prepare' }
  | { readonly type: 'rows'; readonly text: string; readonly values: readonly SqlValue[] }
  | { readonly type: 'close' }

export interface SearchRequest extends SearchWindow {
  readonly search: InventorySearch
  /** What `StoreClock.given` returned: holds that have expired by this time reserve nothing. */
  readonly now: number | null
  readonly budgetMs: number
}

export interface ReaderMessage {
  readonly number: number
  readonly request: ReaderRequest
}

export type ReaderAnswer =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly failure: ReaderFailure }

/** An error as a message: structured cloning would lose its class. */
interface ReaderFailure {
  readonly code: string | undefined
  readonly message: string
  readonly cause: string
}

/**
 * A worker thread with connections of its own, for reads that would hold up the event loop. It starts with the first
 * request. All answers pass through `deliver`: it can delay them until what they show is durable.
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

  /** `Result` is what the worker returns for a request of this type. */
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
    // The worker returns for each type of request what `ask` is asked for.
    const answer = Promise.withResolvers<unknown>() as PromiseWithResolvers<unknown> &
      PromiseWithResolvers<Result>
    this.#pending.set(number, answer)
    // A process with nothing else to do waits for answers, but not for an idle worker.
    worker.ref()
    worker.postMessage({ number, request } satisfies ReaderMessage)
    return answer.promise
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = this.#start()
    worker.on('message', (answer: ReaderAnswer) => this.#receive(answer))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', (code) => this.#fail(worker, new Error(`it ended with ${code}`)))
    this.#worker = worker
    return worker
  }

  #receive(answer: ReaderAnswer): void {
    const waiting = this.#pending.get(answer.number)
    this.#pending.delete(answer.number)
    if (this.#pending.size === 0) this.#worker?.unref()
    if ('failure' in answer) waiting?.reject(fromFailure(answer.failure))
    else waiting?.resolve(answer.result)
  }

  /** The next request starts another worker. */
  #fail(worker: Worker, reason: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    void worker.terminate()
    const error = new ServiceError(
      'service_unavailable',
      'the database cannot be read at the moment; try again shortly',
      {
        cause: new Error('the worker for long reads failed', { cause: reason }),
      },
    )
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

export function toFailure(error: unknown): ReaderFailure {
  const causeOf = (of: unknown) => (of instanceof Error ? (of.stack ?? of.message) : String(of))
  if (error instanceof ServiceError) {
    return { code: error.code, message: error.message, cause: causeOf(error.cause ?? error) }
  }
  return {
    code: undefined,
    message: error instanceof Error ? error.message : String(error),
    cause: causeOf(error),
  }
}

function fromFailure({ code, message, cause }: ReaderFailure): Error {
  const known = ERROR_CODES.find((one) => one === code)
  if (known === undefined) return new Error(message, { cause: new Error(cause) })
  return new ServiceError(known, message, { cause: new Error(cause) })
}
