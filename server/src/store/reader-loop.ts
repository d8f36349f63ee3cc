import { parentPort } from 'node:worker_threads'
import { type ReaderAnswer, type ReaderMessage, type ReaderRequest, toFailure } from './reader.ts'
import type { PetSearch } from './search.ts'

/** The index follows the log this often, so that a search after a quiet hour has little to catch up with. */
const FOLLOW_EVERY_MS = 1_000

export interface ReaderParts {
  readonly search: PetSearch
  /** Runs one statement, beside searches. */
  readonly rows: (request: Extract<ReaderRequest, { type: 'rows' }>) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Answers the requests of the main thread, searches one after the other. */
export function answerRequests({ search, rows, close }: ReaderParts): void {
  const port = parentPort
  if (port === null) throw new Error('this module is the entry point of a worker')
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
    // A search that fails for the same reason reports it.
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
      (result) => post({ number, result }),
      (error: unknown) => post({ number, failure: toFailure(error) }),
    )
  })
}
