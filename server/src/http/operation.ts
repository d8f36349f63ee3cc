import type { HttpRequest } from '@petstore/wire'
import type { Static, TArray, TObject, TSchema } from 'typebox'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { ApiKey, Permission, Plan } from '../core/keys/api-key.ts'
import type { KeyManager } from '../core/keys/key-manager.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { KeyQueue } from '../core/limits/key-queue.ts'
import type { LimitKeeper } from '../core/limits/limit-store.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import type { GroupCommit } from '../core/stock/group-commit.ts'
import type { EventFilter } from '../core/stock/stock-event.ts'
import type { EventStore, HistoryStore } from '../core/stock/stock-store.ts'
import type { LiveView } from '../core/stock/view/live-view.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import type { ErrorCode } from '../core/values/errors.ts'
import { codecsOf, type Fields, type JsonOf } from '../core/values/field.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import type { WebhookSender, WebhookStore } from '../core/webhooks/webhook-store.ts'
import type { RequestIdempotency } from './idempotency.ts'
import { jsonReply, type Reply } from './reply.ts'
import { conditionalReply } from './representation.ts'
import { bodyReader, queryReader, readSegment, type Schemas, type Values } from './request-input.ts'

export interface Services {
  readonly store: CatalogStore &
    HistoryStore &
    OrderStore &
    WebhookStore &
    Pick<KeyStore, 'listKeyPage' | 'findKeyRecord'> &
    Pick<EventStore, 'latestEventCursor'>
  readonly view: LiveView
  readonly commits: GroupCommit
  readonly streams: EventStreamOpener
  readonly limits: LimitKeeper
  readonly keys: KeyManager
  /** Runs searches and history scans one at a time per key. */
  readonly longReads: KeyQueue
  readonly webhookSender: WebhookSender
  readonly clock: Clock
}

export interface EventStreamOpener {
  open(request: StreamRequest): Promise<Reply>
}

export interface StreamRequest {
  readonly keyId: string
  readonly secretHash: string
  readonly plan: Plan
  /** The id of the last event that the caller has received. */
  readonly after: string | undefined
  readonly filter: EventFilter
}

/** The text of each path parameter. */
export type PathSegments = Readonly<Record<string, string>>

/** A parsed request of a known key, as the handler of an operation gets it. */
export interface Input<Params extends Schemas = Schemas, Query extends Schemas = Schemas, Body = unknown> {
  readonly request: HttpRequest
  readonly key: ApiKey
  /** The hash of the secret or pairing code that was sent. The key can be looked up again by it. */
  readonly secretHash: string
  readonly params: Values<Params>
  readonly query: Values<Query>
  readonly body: Body
  /** The Idempotency-Key, if the operation accepts one and the request has one. */
  readonly idempotency: RequestIdempotency | undefined
}

/** The reply of an operation that succeeds. */
export interface SuccessFacts<Success extends TSchema = TSchema> {
  /** 200 by default. */
  readonly status?: 201 | 204
  /** With 201: several resources are created, so the reply has no `Location`. */
  readonly hasNoLocation?: true
  readonly description: string
  readonly schema: Success
  /** The reply is one page of a list, and its `Link` header names the next page. */
  readonly isPaged?: true
  /** The schema of each kind of event, if the reply is a stream of events instead of one JSON value. */
  readonly events?: Schemas
}

/** The description of an operation in the contract. */
export interface OperationFacts {
  readonly operationId: string
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE'
  /** Relative to the base address. A segment in braces is a parameter. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly stability: 'experimental' | 'beta' | 'stable'
  /** The operation is one of the four in SPEC.md. These ignore unknown fields and query parameters; all others reject them. */
  readonly isInSpecification?: true
  /** The permission that the key must have. Every operation that changes something needs one. */
  readonly needs?: Permission
  /** The bearer token is a pairing code. The caller is the key that the code belongs to. */
  readonly takesPairingCode?: true
  /** Requests do not count towards the limits of the key, and are answered even if the limits are exceeded. */
  readonly isFree?: true
  readonly deprecatedSince?: Date
  /** The path template of the operation that replaces this deprecated one. It has the same path parameters. */
  readonly successor?: string
  readonly params?: Schemas
  readonly query?: Schemas
  /** Request headers that the operation uses, with a description of each. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: TObject
  /** 64 KiB by default. */
  readonly maxBodyBytes?: number
  readonly acceptsIdempotencyKey?: true
  readonly success: SuccessFacts
  /** In addition to the errors that every operation can reply with. */
  readonly errors: readonly ErrorCode[]
}

/** An operation as the lifecycle of a request calls it. */
export interface Operation extends OperationFacts {
  readParams(segments: PathSegments): Values<Schemas>
  readQuery(query: string): Values<Schemas>
  readBody?(request: HttpRequest, bytes: Uint8Array): unknown
  prepare?(params: Values<Schemas>, services: Services): MaybePromise<unknown>
  respond(input: Input, services: Services, prepared: unknown): MaybePromise<Reply>
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
  /** Replaces the parser that is derived from the schema, to give better error messages. */
  parseBody?(value: object): Parsed
  readonly success: SuccessFacts<Success>
  /** Reads the data that the reply needs. If counting the request takes a round trip, `prepare` runs at the same time. */
  prepare?(params: Values<Params>, services: Services): MaybePromise<Prepared>
  /** Returns the value to reply with. */
  handle?(
    input: Input<Params, Query, Parsed>,
    services: Services,
    prepared: Prepared,
  ): Promise<BodyOf<Success>>
  /** Replaces `handle` if the operation builds its own reply. */
  reply?(input: Input<Params, Query, Parsed>, services: Services, prepared: Prepared): MaybePromise<Reply>
}

/** The JSON of a body with this schema. */
type BodyOf<Schema extends TSchema> =
  Schema extends TArray<infer Item extends TSchema>
    ? readonly BodyOf<Item>[]
    : Schema extends TObject<infer Of extends Fields>
      ? JsonOf<Of>
      : Static<Schema>

const NO_QUERY = {}

/** One definition gives the types of the handler, the checks of the request and the entry in the contract. */
export function defineOperation<
  const Params extends Schemas,
  const Query extends Schemas,
  Body extends TObject,
  Success extends TSchema,
  Prepared,
  Parsed = Static<Body>,
>(definition: Definition<Params, Query, Body, Success, Prepared, Parsed>): Operation {
  const { handle: _handle, reply: _reply, parseBody, prepare, ...facts } = definition
  const { operationId, method, needs, takesPairingCode, params = {}, query, body } = definition
  if (method !== 'GET' && needs === undefined && !takesPairingCode) {
    throw new Error(`${operationId} changes something, but does not name the permission that it needs`)
  }
  const paramCodecs = codecsOf(params)
  const unknownNames = definition.isInSpecification ? 'ignored' : 'rejected'
  const readQuery = queryReader(query ?? {}, unknownNames)
  return {
    ...facts,
    readParams(segments) {
      const values: Record<string, unknown> = {}
      for (const codec of paramCodecs) values[codec.name] = readSegment(codec, segments[codec.name] ?? '')
      return values
    },
    readQuery: (text) => (text === '' && query === undefined ? NO_QUERY : readQuery(text)),
    ...(body === undefined ? {} : { readBody: bodyReader(body, unknownNames, parseBody) }),
    ...(prepare === undefined ? {} : { prepare }),
    respond: responder(definition),
  }
}

type Responder<Params extends Schemas, Query extends Schemas, Prepared, Parsed> = (
  input: Input<Params, Query, Parsed>,
  services: Services,
  prepared: Prepared,
) => MaybePromise<Reply>

function responder<Params extends Schemas, Query extends Schemas, Prepared, Parsed>({
  operationId,
  handle,
  reply,
}: Pick<
  Definition<Params, Query, TObject, TSchema, Prepared, Parsed>,
  'operationId' | 'handle' | 'reply'
>): Responder<Params, Query, Prepared, Parsed> {
  if (reply !== undefined) return reply
  if (handle === undefined) throw new Error(`${operationId} needs a handle or a reply`)
  return async (input, services, prepared) => {
    const value = jsonReply(await handle(input, services, prepared))
    // Only reads reply 304 (RFC 9110, 13.1.2).
    return input.request.method === 'GET' || input.request.method === 'HEAD'
      ? conditionalReply(value, input.request)
      : value
  }
}

/** RFC 9745 and RFC 8594. */
export function deprecationHeaders(
  operation: Operation,
  segments: PathSegments,
  sunset: Date,
): Reply['headers'] {
  if (operation.deprecatedSince === undefined) return {}
  return {
    Deprecation: `@${operation.deprecatedSince.getTime() / SECOND}`,
    Sunset: sunset.toUTCString(),
    Link: [
      '</openapi.json>; rel="deprecation"; type="application/json"',
      '</openapi.json>; rel="sunset"; type="application/json"',
      ...(operation.successor === undefined
        ? []
        : [`<${fillPathTemplate(operation.successor, segments)}>; rel="successor-version"`]),
    ].join(', '),
  }
}

function fillPathTemplate(address: string, segments: PathSegments): string {
  return address.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segments[name] ?? ''))
}
