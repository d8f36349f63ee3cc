/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The `cursor` of the next page, or its `after` in a list of events; `undefined` on the last page. */
  readonly next: string | undefined
  /** The position of the page among the events, if the service names it: events after it are news. */
  readonly lastEventId?: string
}

interface PageRequest {
  /** `undefined` for the page that the caller asked for. */
  readonly start: string | undefined
  /** All items are wanted, so pages can be as large as the service allows. */
  readonly isIteration: boolean
}

type ReadPage<Item> = (request: PageRequest) => Promise<Page<Item>>

/**
 * A list of the service. `await` returns one page, `for await` the items of all pages. Nothing is requested until then.
 */
export class List<Item> implements Promise<Page<Item>>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'List'
  readonly #readPage: ReadPage<Item>
  #firstPage: Promise<Page<Item>> | undefined

  /** @internal */
  constructor(readPage: ReadPage<Item>) {
    this.#readPage = readPage
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaitable
  then<Result = Page<Item>, Failure = never>(
    onPage?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onFailure?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#first().then(onPage, onFailure)
  }

  catch<Failure = never>(
    onFailure?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<Item> | Failure> {
    return this.#first().catch(onFailure)
  }

  finally(onEnd?: (() => void) | null): Promise<Page<Item>> {
    return this.#first().finally(onEnd)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let start: string | undefined
    do {
      const { items, next } = await this.#readPage({ start, isIteration: true })
      yield* items
      start = next
    } while (start !== undefined)
  }

  #first(): Promise<Page<Item>> {
    this.#firstPage ??= this.#readPage({ start: undefined, isIteration: false })
    return this.#firstPage
  }
}

/** The parameter of the link to the next page (RFC 8288). The link's address is ignored: a proxy may have another. */
export function nextPage(headers: Headers, parameter: string): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('Link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (!/;\s*rel="?([^";]*\s)?next(\s[^";]*)?"?\s*(;|,|$)/i.test(parameters)) continue
    return new URL(target, 'http://any').searchParams.get(parameter) ?? undefined
  }
  return undefined
}
