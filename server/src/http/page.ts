import Type from 'typebox'
import { conditional } from './conditional.ts'
import { jsonReply, type Reply } from './reply.ts'

export const limitParameter = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: 20,
  description: 'How many to return at most.',
})

export const cursorParameter = Type.Optional(
  Type.String({ minLength: 1, description: 'Where to go on: as `Link` with rel="next" gave it; opaque.' }),
)

/** A page, and in `Link` the address of the next one: this one's, with these parameters. */
export function pageReply(
  request: Request,
  values: readonly unknown[],
  next: Readonly<Record<string, string | number | undefined>> & { readonly cursor: string | undefined },
): Reply {
  const { pathname } = new URL(request.url, 'http://any')
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(next)) {
    if (value !== undefined) query.set(name, String(value))
  }
  const link = next.cursor === undefined ? {} : { Link: `<${pathname}?${query}>; rel="next"` }
  return conditional(jsonReply(values, link), request.headers.get('if-none-match'))
}
