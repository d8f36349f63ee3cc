/** A signal that ends with the caller's, or after a time. By the real clock: it guards against dead connections. */
export class TimedSignal {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.#controller.abort(this.#outer?.reason)
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(outer: AbortSignal | undefined, timeoutMs: number) {
    this.#outer = outer
    if (outer?.aborted) this.#forward()
    outer?.addEventListener('abort', this.#forward, { once: true })
    if (Number.isFinite(timeoutMs)) {
      const reason = new DOMException(`nothing came within ${timeoutMs} ms`, 'TimeoutError')
      this.#timer = setTimeout(() => this.#controller.abort(reason), timeoutMs)
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  /** The request is over: lets go of the timer and of the caller's signal. */
  release(): void {
    this.stopTimer()
    this.#outer?.removeEventListener('abort', this.#forward)
  }

  /** Breaks off whatever still goes on. */
  end(): void {
    this.release()
    this.#controller.abort(new DOMException('no more is wanted', 'AbortError'))
  }
}
