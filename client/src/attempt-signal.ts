import { onAbort } from './waiting.ts'

/** The signal of one attempt: aborted with the caller's signal or after a timeout, which runs by the system clock. */
export class AttemptSignal {
  readonly #controller = new AbortController()
  readonly #removeListener: () => void
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(callerSignal: AbortSignal | undefined, timeoutMs: number) {
    const forward = () => this.#controller.abort(callerSignal?.reason)
    if (callerSignal?.aborted) forward()
    this.#removeListener = onAbort(callerSignal, forward)
    if (Number.isFinite(timeoutMs)) {
      const reason = new DOMException(`no response within ${timeoutMs} ms`, 'TimeoutError')
      this.#timer = setTimeout(() => this.#controller.abort(reason), timeoutMs)
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  /** Call it when the attempt is over: it releases the timer and the caller's signal. */
  release(): void {
    this.stopTimer()
    this.#removeListener()
  }

  /** Aborts the attempt if it is still running. */
  end(): void {
    this.release()
    this.#controller.abort(new DOMException('the response is no longer needed', 'AbortError'))
  }
}
