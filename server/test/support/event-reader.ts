/** One server-sent event. */
export interface ReceivedEvent {
  readonly name: string
  readonly id: string
  readonly data: string
}

/** Reads an event stream like a browser: line by line, without comments and `retry`. */
export class EventReader {
  readonly response: Response
  readonly events: ReceivedEvent[] = []
  readonly comments: string[] = []
  retry: number | undefined
  /** Whether the stream ended cleanly, or was cut. */
  ended: 'closed' | 'cut' | undefined
  readonly #abort: AbortController
  #lastId: string | undefined
  #changed = Promise.withResolvers<void>()

  static async open(
    address: string,
    key: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EventReader> {
    const abort = new AbortController()
    const response = await fetch(address, {
      headers: { Authorization: `Bearer ${key}`, ...headers },
      signal: abort.signal,
    })
    return new EventReader(response, abort)
  }

  private constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#abort = abort
    void this.#read()
  }

  get lastId(): string | undefined {
    return this.#lastId
  }

  /** Waits until the condition holds; throws after the timeout. */
  async until(condition: () => boolean, withinMs = 60_000): Promise<void> {
    const deadline = performance.now() + withinMs
    while (!condition()) {
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`not in ${withinMs} ms; there were ${this.events.length} events`)
      await Promise.race([this.#changed.promise, Bun.sleep(left)])
    }
  }

  close(): void {
    this.#abort.abort()
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const bytes of this.response.body ?? []) {
        text += decoder.decode(bytes, { stream: true })
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) this.#take(block)
        this.#change()
      }
      this.ended = 'closed'
    } catch {
      this.ended = 'cut'
    }
    this.#change()
  }

  #take(block: string): void {
    const fields = new Map<string, string>()
    for (const line of block.split('\n')) {
      const [, field = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? []
      if (field === '') this.comments.push(value)
      else fields.set(field, value)
    }
    this.#lastId = fields.get('id') ?? this.#lastId
    if (fields.has('retry')) this.retry = Number(fields.get('retry'))
    const name = fields.get('event')
    if (name !== undefined)
      this.events.push({ name, id: fields.get('id') ?? '', data: fields.get('data') ?? '' })
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}
