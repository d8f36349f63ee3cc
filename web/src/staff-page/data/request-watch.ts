import { Observable, type Readable } from './observable.ts'
import { ServerClock } from './server-clock.ts'

/** What stands between the page and the service at the moment, as the last answers told. */
export interface RequestState {
  /** Until when the service has asked to wait, in milliseconds since 1970. */
  readonly throttledUntil: number | undefined
  /** It answers, but says that it cannot do its work. */
  readonly isUnavailable: boolean
  readonly isUnreachable: boolean
}

/** The client tries again sooner than that. */
const FADES_AFTER_MS = 15_000

const ALL_IS_WELL: RequestState = { throttledUntil: undefined, isUnavailable: false, isUnreachable: false }

/**
 * Sees every request of the session go out and its answer come back. The client waits and tries again by itself;
 * this is how the page can say so meanwhile.
 */
export class RequestWatch implements Readable<RequestState> {
  readonly #state = new Observable(ALL_IS_WELL)
  readonly #onRefusedKey: () => void
  #ending: ReturnType<typeof setTimeout> | undefined
  #fading: ReturnType<typeof setTimeout> | undefined

  readonly clock = new ServerClock()
  readonly get = this.#state.get
  readonly subscribe = this.#state.subscribe

  constructor(onRefusedKey: () => void) {
    this.#onRefusedKey = onRefusedKey
  }

  /** To be given to the client. */
  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const sentAt = Date.now()
    try {
      const response = await fetch(url, init)
      this.clock.note(response.headers.get('Date'), sentAt)
      this.#note(response)
      return response
    } catch (error) {
      const isOurs = init.signal?.aborted === true && !isTimeout(init.signal.reason)
      if (!isOurs) this.#trouble({ isUnreachable: true })
      throw error
    }
  }

  /** The browser says that there is no network: that holds until something is answered. */
  readonly noteOffline = (): void => this.#change({ isUnreachable: true })

  stop(): void {
    clearTimeout(this.#ending)
    clearTimeout(this.#fading)
    this.#state.set(ALL_IS_WELL)
  }

  #note({ status, headers }: Response): void {
    if (status >= 502 && status <= 504) this.#trouble({ isUnreachable: false, isUnavailable: true })
    else this.#change({ isUnreachable: false, isUnavailable: false })
    if (status === 401) this.#onRefusedKey()
    if (status === 429) this.#throttle(Number(headers.get('Retry-After') ?? '1'))
  }

  /** Where nothing is sent any more, no answer will say that it is over. */
  #trouble(changes: Partial<RequestState>): void {
    this.#change(changes)
    clearTimeout(this.#fading)
    this.#fading = setTimeout(() => {
      if (navigator.onLine) this.#change({ isUnreachable: false, isUnavailable: false })
    }, FADES_AFTER_MS)
  }

  #throttle(seconds: number): void {
    const until = Date.now() + Math.max(1, seconds) * 1000
    if (!Number.isFinite(until) || until <= (this.get().throttledUntil ?? 0)) return
    this.#change({ throttledUntil: until })
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => this.#change({ throttledUntil: undefined }), until - Date.now())
  }

  #change(changes: Partial<RequestState>): void {
    const before = this.get()
    const after = { ...before, ...changes }
    const isSame =
      before.throttledUntil === after.throttledUntil &&
      before.isUnavailable === after.isUnavailable &&
      before.isUnreachable === after.isUnreachable
    if (!isSame) this.#state.set(after)
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}
