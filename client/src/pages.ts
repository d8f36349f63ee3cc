import type { CallOptions } from './operation-call.ts'

export interface PageOptions extends CallOptions {
  /** How many to a page: 1 to 100, 20 by default, where the method does not say otherwise. */
  readonly limit?: number
  readonly cursor?: string | undefined
}

/** One page of a longer list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** What to give as `cursor` for the next page; `undefined` on the last one. */
  readonly next: string | undefined
}

export function pageOf<Item>(items: readonly Item[], headers: Headers): Page<Item> {
  return { items, next: nextCursor(headers.get('Link')) }
}

/** Every item of every page, each page asked for when it is needed. */
export async function* allItems<Item>(
  readPage: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined
  do {
    const { items, next } = await readPage(cursor)
    yield* items
    cursor = next
  } while (cursor !== undefined)
}

/** The cursor in the link to the next page (RFC 8288). Its address is not used: a proxy may serve another. */
function nextCursor(link: string | null): string | undefined {
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (!/;\s*rel="?([^";]*\s)?next(\s[^";]*)?"?\s*(;|,|$)/i.test(parameters)) continue
    return new URL(target, 'http://any').searchParams.get('cursor') ?? undefined
  }
  return undefined
}
