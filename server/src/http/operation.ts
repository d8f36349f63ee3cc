import type { Static, TObject, TSchema } from 'typebox'
import type { ApiKey } from '../core/api-key.ts'
import type { Clock } from '../core/clock.ts'
import { type ErrorCode, ServiceError } from '../core/errors.ts'
import type { Store } from '../core/store.ts'
import { readJsonBody } from './json-body.ts'
import { bodyValidator, exampleOf, readInt64 } from './validation.ts'

/** What operations work with. */
export interface Services {
  readonly store: Store
  readonly clock: Clock
}

/** One admitted request on its way into an operation. */
export interface Call {
  readonly request: Request
  /** Still as they stood in the path. */
  readonly params: Readonly<Record<string, string>>
  readonly key: ApiKey
}

export type Stability = 'experimental' | 'beta' | 'stable'

/** What the contract, the router and the tests know of an operation. */
export interface OperationFacts {
  readonly operationId: string
  readonly method: 'GET' | 'PATCH'
  /** Relative to the base address; a segment in braces is an int64 parameter. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly stability: Stability
  /** Since when it is deprecated, if it is; when it ends is a setting. */
  readonly deprecatedSince?: Date
  readonly params: Readonly<Record<string, TSchema>>
  readonly body?: TObject
  readonly success: { readonly description: string; readonly schema: TSchema }
  /** Beside those that every operation can answer with. */
  readonly errors: readonly ErrorCode[]
}

export interface Operation extends OperationFacts {
  /** Checks the request against the definition, then answers with what `success` describes. */
  run(call: Call, services: Services): Promise<unknown>
}

type Values<Params extends Readonly<Record<string, TSchema>>> = {
  readonly [Name in keyof Params]: Static<Params[Name]>
}

interface Definition<
  Params extends Readonly<Record<string, TSchema>>,
  Body extends TObject,
  Success extends TSchema,
> extends OperationFacts {
  readonly params: Params
  readonly body?: Body
  readonly success: { readonly description: string; readonly schema: Success }
  handle(
    input: { readonly params: Values<Params>; readonly body: Static<Body>; readonly key: ApiKey },
    services: Services,
  ): Promise<Static<Success>>
}

/** One definition gives the types of the handler, the checks of the request and the entry in the contract. */
export function defineOperation<
  const Params extends Readonly<Record<string, TSchema>>,
  Body extends TObject,
  Success extends TSchema,
>(definition: Definition<Params, Body, Success>): Operation {
  const { handle, ...facts } = definition
  const bodySchema = definition.body
  const validate = bodySchema === undefined ? undefined : bodyValidator(bodySchema)
  const example = bodySchema === undefined ? '' : exampleOf(bodySchema)

  return {
    ...facts,
    async run({ request, params, key }, services) {
      if (key.readOnly && facts.method !== 'GET') {
        throw new ServiceError('forbidden', 'this API key is read-only; use one that may change the stock')
      }
      const values: Record<string, bigint> = {}
      for (const name in facts.params) values[name] = readInt64(name, params[name] ?? '')
      const body = validate?.(await readJsonBody(request, example))
      return handle({ params: values as Values<Params>, body: body as Static<Body>, key }, services)
    },
  }
}
