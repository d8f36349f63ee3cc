import type { HttpRequest } from '@petstore/wire'
import Type from 'typebox'
import { jsonTextReply, type Reply, toJson } from './reply.ts'
import { conditional } from './representation.ts'

export const limitParameterUpTo = (maximum: number, fallback: number) =>
  Type.Integer({ minimum: 1, maximum, default: fallback, description: 'How many to return at most.' })

export const limitParameter = limitParameterUpTo(100, 20)

export const cursorParameter = Type.Optional(
  Type.String({ minLength: 1, description: 'Where to go on: as `Link` with rel="next" gave it; opaque.' }),
)

type NextPage = Readonly<Record<string, string | number | undefined>> & {
  readonly cursor: string | undefined
}

/** A page, and in `Link` the address of the next one: this one's, with these parameters. */
export function pageReply(request: HttpRequest, values: readonly unknown[], next: NextPage): Reply {
  return pageTextReply(request, toJson(values), next)
}

/** Where the JSON is there already. */
export function pageTextReply(request: HttpRequest, json: string, next: NextPage): Reply {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(next)) {
    if (value !== undefined) query.set(name, String(value))
  }
  const link = next.cursor === undefined ? {} : { Link: `<${request.path}?${query}>; rel="next"` }
  return conditional(jsonTextReply(json, link), request.headers.get('if-none-match'))
}
