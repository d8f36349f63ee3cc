import { State } from './observable.ts'
import { ServerClock } from './server-clock.ts'

/** Problems between the page and the service, by the latest responses. */
export interface RequestState {
  /** The end of the wait that the service has asked for, in milliseconds since 1970. */
  readonly throttledUntil: number | undefined
  /** It responds with 502, 503 or 504. */
  readonly isUnavailable: boolean
  readonly isUnreachable: boolean
}

/** Longer than the client waits before it retries. */
const CLEARED_AFTER_MS = 15_000

const NO_PROBLEM: RequestState = { throttledUntil: undefined, isUnavailable: false, isUnreachable: false }

/**
 * Watches every request of the session. The client waits and retries by itself, and the page shows that meanwhile.
 */
export class RequestWatch extends State<RequestState> {
  readonly #onRefusedKey: () => void
  #throttleTimer: ReturnType<typeof setTimeout> | undefined
  #clearTimer: ReturnType<typeof setTimeout> | undefined

  readonly clock = new ServerClock()

  constructor(onRefusedKey: () => void) {
    super(NO_PROBLEM)
    this.#onRefusedKey = onRefusedKey
  }

  /** The client sends its requests with this. */
  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const sentAt = Date.now()
    try {
      const response = await fetch(url, init)
      this.clock.note(response.headers.get('Date'), sentAt)
      this.#note(response)
      return response
    } catch (error) {
      const isAbortedByPage = init.signal?.aborted === true && !isTimeout(init.signal.reason)
      if (!isAbortedByPage) this.#trouble({ isUnreachable: true })
      throw error
    }
  }

  /** The browser reports that it is offline. The next response ends this state. */
  readonly noteOffline = (): void => this.#change({ isUnreachable: true })

  #note({ status, headers }: Response): void {
    if (status >= 502 && status <= 504) this.#trouble({ isUnreachable: false, isUnavailable: true })
    else this.#change({ isUnreachable: false, isUnavailable: false })
    if (status === 401) this.#onRefusedKey()
    if (status === 429) this.#throttle(Number(headers.get('Retry-After') ?? '1'))
  }

  /** Clears the problem after a while: without requests, no response would clear it. */
  #trouble(changes: Partial<RequestState>): void {
    this.#change(changes)
    clearTimeout(this.#clearTimer)
    this.#clearTimer = setTimeout(() => {
      if (navigator.onLine) this.#change({ isUnreachable: false, isUnavailable: false })
    }, CLEARED_AFTER_MS)
  }

  #throttle(seconds: number): void {
    const until = Date.now() + Math.max(1, seconds) * 1000
    if (!Number.isFinite(until) || until <= (this.get().throttledUntil ?? 0)) return
    this.#change({ throttledUntil: until })
    clearTimeout(this.#throttleTimer)
    this.#throttleTimer = setTimeout(() => this.#change({ throttledUntil: undefined }), until - Date.now())
  }

  #change(changes: Partial<RequestState>): void {
    const before = this.get()
    const after = { ...before, ...changes }
    const isSame =
      before.throttledUntil === after.throttledUntil &&
      before.isUnavailable === after.isUnavailable &&
      before.isUnreachable === after.isUnreachable
    if (!isSame) this.setValue(after)
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}
