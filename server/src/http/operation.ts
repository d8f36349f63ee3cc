import type { HttpRequest } from '@petstore/wire'
import type { Static, TArray, TObject, TSchema } from 'typebox'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import { type Permission, requirePermission } from '../core/keys/permissions.ts'
import type { KeyQueue } from '../core/limits/key-queue.ts'
import type { LimitKeeper } from '../core/limits/limit-store.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import type { GroupCommit } from '../core/stock/group-commit.ts'
import type { EventStore, HistoryStore } from '../core/stock/stock-store.ts'
import type { LiveView } from '../core/stock/view/live-view.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import type { ErrorCode } from '../core/values/errors.ts'
import type { Fields, JsonOf } from '../core/values/field.ts'
import { andThen, type MaybePromise } from '../core/values/maybe-promise.ts'
import type { WebhookKind } from '../core/webhooks/webhook.ts'
import type { Message, WebhookSender, WebhookStore } from '../core/webhooks/webhook-store.ts'
import type { EventStreams } from './event-streams.ts'
import type { Authenticated } from './gate.ts'
import { type SentKey, sentKeyOf } from './idempotency.ts'
import { jsonReply, type Reply } from './reply.ts'
import { conditional } from './representation.ts'
import { bodyReader, queryReader, readInt64, type Schemas, type Values } from './request-input.ts'

export interface Services {
  readonly store: CatalogStore &
    HistoryStore &
    OrderStore &
    WebhookStore &
    Pick<EventStore, 'latestEventCursor'>
  readonly view: LiveView
  readonly commits: GroupCommit
  readonly streams: EventStreams
  readonly limits: LimitKeeper
  /** Searches and scans of the history: one at a time for each key. */
  readonly longReads: KeyQueue
  readonly webhooks: WebhookTools
  readonly clock: Clock
}

/** What webhooks are tried with. */
export interface WebhookTools {
  readonly sender: WebhookSender
  readonly sampleOf: (kind: WebhookKind, at: number) => Message
}

/** One admitted request on its way into an operation. */
export interface Call extends Authenticated {
  readonly request: HttpRequest
  /** Still as they stood in the path. */
  readonly params: Readonly<Record<string, string>>
}

/** What an operation answers with when all is well. */
export interface SuccessFacts<Success extends TSchema = TSchema> {
  /** 200 where nothing is given; one without a body is 204. */
  readonly status?: 201 | 204
  readonly description: string
  readonly schema: Success
  /** Whether `Link` tells where the next page is. */
  readonly isPaged?: true
  /** Where it is a stream of events instead of one JSON value: the data of each kind of event. */
  readonly events?: Schemas
}

/** What the contract, the router and the tests know of an operation. */
export interface OperationFacts {
  readonly operationId: string
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE'
  /** Relative to the base address; a segment in braces is an int64 parameter. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly stability: 'experimental' | 'beta' | 'stable'
  /** The permission without which a key is refused: whatever changes something needs one. */
  readonly needs?: Permission
  /** Since when it is deprecated, if it is; when it ends is a setting. */
  readonly deprecatedSince?: Date
  /** The address of what takes the place of a deprecated one. */
  readonly successor?: string
  readonly params?: Schemas
  readonly query?: Schemas
  /** Request headers that it heeds beside those of every request, and what they do. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: TObject
  /** Where that may be larger than most. */
  readonly maxBodyBytes?: number
  /** Heeds Idempotency-Key: sent again, it changes nothing and is answered as before. */
  readonly isIdempotent?: true
  readonly success: SuccessFacts
  /** Beside those that every operation can answer with. */
  readonly errors: readonly ErrorCode[]
}

export interface Operation extends OperationFacts {
  /** Checks the request against the definition, then answers with what `success` describes. */
  run(call: Call, services: Services): MaybePromise<Reply>
  /**
   * Starts what `run` would have to wait for, while it is still being decided whether the request is admitted; what it
   * gives goes on from there. It never throws, and whoever is not admitted need not go on.
   */
  prepare?(call: Call, services: Services): () => MaybePromise<Reply>
}

interface Definition<
  Params extends Schemas,
  Query extends Schemas,
  Body extends TObject,
  Success extends TSchema,
  Prepared,
  Parsed,
> extends OperationFacts {
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Checks the body instead of its schema, where that could not tell what is wrong. */
  parseBody?(value: object): Parsed
  readonly success: SuccessFacts<Success>
  /** Asks for what is answered with: at the same time as the limits are counted, where both take a round trip. */
  prepare?(params: Values<Params>, services: Services): MaybePromise<Prepared>
  /** Gives the value that is answered with, or, in `reply`, the answer itself, where its bytes are ready. */
  handle?(
    input: Input<Params, Query, Parsed>,
    services: Services,
    prepared: Prepared,
  ): Promise<BodyOf<Success>>
  reply?(input: Input<Params, Query, Parsed>, services: Services, prepared: Prepared): MaybePromise<Reply>
}

type Input<Params extends Schemas, Query extends Schemas, Parsed> = Omit<Call, 'params'> & {
  readonly params: Values<Params>
  readonly query: Values<Query>
  readonly body: Parsed
  /** Where the operation heeds an Idempotency-Key, and one was sent. */
  readonly sentKey: SentKey | undefined
}

/** The JSON of a body with this schema. */
type BodyOf<Schema extends TSchema> =
  Schema extends TArray<infer Item extends TSchema>
    ? readonly BodyOf<Item>[]
    : Schema extends TObject<infer Of extends Fields>
      ? JsonOf<Of>
      : Static<Schema>

const NO_QUERY = {}

/**
 * One definition gives the types of the handler, the checks of the request and the entry in the contract. What a schema
 * has checked is of its type, and without a `prepare` nothing is prepared: the compiler has to be told both.
 */
export function defineOperation<
  const Params extends Schemas,
  const Query extends Schemas,
  Body extends TObject,
  Success extends TSchema,
  Prepared,
  Parsed = Static<Body>,
>(definition: Definition<Params, Query, Body, Success, Prepared, Parsed>): Operation {
  const { prepare, handle, reply, parseBody, ...facts } = definition
  if (facts.method !== 'GET' && facts.needs === undefined) {
    throw new Error(`${facts.operationId} changes something, but does not say which permission that needs`)
  }
  const readQuery = definition.query === undefined ? undefined : queryReader(definition.query)
  const readBody =
    definition.body === undefined
      ? undefined
      : bodyReader(definition.body, { maxBytes: facts.maxBodyBytes, parse: parseBody })

  function readParams(call: Call): Values<Params> {
    const values: Record<string, bigint> = {}
    for (const name in facts.params) values[name] = readInt64(name, call.params[name] ?? '')
    return values as Values<Params>
  }

  function readInput(call: Call): MaybePromise<Input<Params, Query, Parsed>> {
    const { request, key, secretHash } = call
    if (facts.needs !== undefined) requirePermission(key, facts.needs)
    const params = readParams(call)
    const query = (readQuery?.(request.query) ?? NO_QUERY) as Values<Query>
    return andThen(readBody?.(request), (sent) => {
      const body = sent?.value as Parsed
      const sentKey = facts.isIdempotent ? sentKeyOf(request, sent?.bytes) : undefined
      return { request, key, secretHash, params, query, body, sentKey }
    })
  }

  function respond(input: Input<Params, Query, Parsed>, services: Services, prepared: Prepared) {
    if (reply !== undefined) return reply(input, services, prepared)
    if (handle !== undefined) return valueReply(handle(input, services, prepared), input.request)
    throw new Error(`${facts.operationId} has neither a handle nor a reply`)
  }

  const operation: Operation = {
    ...facts,
    run: (call, services) =>
      andThen(readInput(call), (input) =>
        andThen(prepare?.(input.params, services) as MaybePromise<Prepared>, (prepared) =>
          respond(input, services, prepared),
        ),
      ),
  }
  if (prepare === undefined) return operation
  return {
    ...operation,
    prepare(call, services) {
      const preparing = Promise.try(() => prepare(readParams(call), services))
      // Its failure is for those who wait for it, and one that is refused does not.
      preparing.catch(() => {})
      return () =>
        andThen(readInput(call), (input) => preparing.then((prepared) => respond(input, services, prepared)))
    },
  }
}

async function valueReply(value: Promise<unknown>, request: HttpRequest): Promise<Reply> {
  const reply = jsonReply(await value)
  return isRead(request) ? conditional(reply, request) : reply
}

/** Only reads answer 304 (RFC 9110, 13.1.2). */
function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** RFC 9745 and RFC 8594: since when, until when, and where to read about it. */
export function deprecationHeaders(operation: Operation, sunset: Date): Reply['headers'] {
  if (operation.deprecatedSince === undefined) return {}
  return {
    Deprecation: `@${operation.deprecatedSince.getTime() / SECOND}`,
    Sunset: sunset.toUTCString(),
    Link: [
      '</openapi.json>; rel="deprecation"; type="application/json"',
      '</openapi.json>; rel="sunset"; type="application/json"',
      ...(operation.successor === undefined ? [] : [`<${operation.successor}>; rel="successor-version"`]),
    ].join(', '),
  }
}

export type Match =
  | { readonly operation: Operation; readonly params: Call['params'] }
  /** The methods that the path offers instead; `undefined` where there is no such path. */
  | { readonly allowed: readonly string[] | undefined }

type OperationsByMethod = ReadonlyMap<string, Operation>

const UNKNOWN_PATH: Match = { allowed: undefined }
const NO_PARAMS: Call['params'] = {}

export class Router {
  /** Paths without parameters are found without trying patterns, and win over those with. */
  readonly #byPath = new Map<string, OperationsByMethod>()
  readonly #withParams: { readonly pattern: RegExp; readonly byMethod: OperationsByMethod }[] = []

  constructor(basePath: string, operations: readonly Operation[]) {
    for (const [path, offered] of Map.groupBy(operations, (operation) => basePath + operation.path)) {
      const byMethod = new Map<string, Operation>()
      for (const operation of offered) {
        byMethod.set(operation.method, operation)
        if (operation.method === 'GET') byMethod.set('HEAD', operation)
      }
      const pattern = path.replaceAll(/\{([^}]+)\}/g, '(?<$1>[^/]*)')
      if (pattern === path) this.#byPath.set(path, byMethod)
      else this.#withParams.push({ pattern: new RegExp(`^${pattern}$`), byMethod })
    }
  }

  /** `path` is the whole path of the address, base path included. */
  match(method: string, path: string): Match {
    const exact = this.#byPath.get(path)
    if (exact !== undefined) return matchMethod(exact, method, NO_PARAMS)
    for (const { pattern, byMethod } of this.#withParams) {
      const params = pattern.exec(path)?.groups
      if (params === undefined) continue
      return matchMethod(byMethod, method, path.includes('%') ? decoded(params) : params)
    }
    return UNKNOWN_PATH
  }
}

function matchMethod(byMethod: OperationsByMethod, method: string, params: Call['params']): Match {
  const operation = byMethod.get(method)
  return operation === undefined ? { allowed: [...byMethod.keys()] } : { operation, params }
}

/** A segment that is not valid percent-encoding stays as it is: no parameter of ours accepts a `%`. */
function decoded(params: Call['params']): Call['params'] {
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, segment]) => [name, decodeURIComponent(segment)]),
    )
  } catch {
    return params
  }
}
