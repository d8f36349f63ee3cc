import Type, { type Static } from 'typebox'
import { AVAILABLE, CLOSED_STATES } from '../core/orders/order.ts'
import { ERROR_CODES } from '../core/values/errors.ts'
import { Int64, MAX_QUANTITY, OneOf } from '../core/values/field.ts'

export const PlainText = (description: string) => Type.String({ description })
export const Count = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_QUANTITY, description })
export const HttpStatus = (description: string) => Type.Integer({ minimum: 100, maximum: 599, description })
export const Flag = (description: string) => Type.Boolean({ description })

/** The query parameters of a paged list. */
export function pageParameters({ maxLimit, defaultLimit } = { maxLimit: 1_000, defaultLimit: 100 }) {
  return {
    limit: Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      default: defaultLimit,
      description: 'The maximum number of rows in the page.',
    }),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page.',
      }),
    ),
  }
}

export const ErrorDetail = Type.Object(
  {
    index: Count('The position of the change in the request, or of the line in a file, from 0.'),
    line: Type.Optional(Count('The line of the file, from 1, if the request is an import.')),
    petId: Type.Optional(Int64('The pet that the change names; absent if it names none.')),
    code: OneOf(ERROR_CODES, { description: 'The error code of this change.' }),
    message: PlainText('Human-readable description.'),
    field: Type.Optional(PlainText('The field of the change that is wrong.')),
    available: Type.Optional({
      ...AVAILABLE,
      description:
        'With insufficient_stock: the units that the request could have taken. For a new order, or for an adjustment with `keepReserved`, these are the available units, which are negative if more units are reserved than are on the shelf. Otherwise they are the units on the shelf.',
    }),
    state: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        title: 'ClosedOrderState',
        enum: CLOSED_STATES,
        description: 'With order_closed: the state of the order.',
      }),
    ),
  },
  {
    title: 'ErrorDetail',
    examples: [
      {
        index: 0,
        petId: 1,
        code: 'insufficient_stock',
        message: 'petId 1 has 3 available units, so 5 cannot be ordered',
        available: 3,
      },
    ],
  },
)

/** The contract calls this schema `Error`; here that name would hide the global `Error`. */
export const ErrorBody = Type.Object(
  {
    code: OneOf(ERROR_CODES, { description: 'Machine-readable error code. Codes are never renamed.' }),
    message: PlainText('Human-readable description: what is wrong, what was expected, what to do.'),
    status: HttpStatus('The HTTP status code.'),
    field: Type.Optional(
      PlainText(
        'The field of the body, the query parameter or the path parameter that is wrong, such as `quantity` or `changes[3].delta`. Absent if a combination of fields is wrong.',
      ),
    ),
    details: Type.Optional(
      Type.Array(ErrorDetail, {
        description:
          'Each change of an adjustment, each line of an order, or each pet of a batch, that cannot be saved.',
      }),
    ),
  },
  {
    title: 'Error',
    examples: [
      {
        code: 'invalid_request',
        message: 'quantity must be an integer from 0 to 9007199254740991, got "5" (a string)',
        status: 400,
        field: 'quantity',
      },
    ],
  },
)
export type ErrorBody = Static<typeof ErrorBody>

export const ProblemBody = Type.Object(
  {
    type: PlainText(
      'Identifies the code, and is the address of its documentation, relative to that of the request.',
    ),
    title: PlainText('The code in words.'),
    detail: PlainText('The same as `message`.'),
    ...ErrorBody.properties,
  },
  {
    title: 'Problem',
    description:
      'An error as problem details (RFC 9457), which a request gets if its Accept header names `application/problem+json`.',
    examples: [
      {
        type: '/docs/guides/errors#unauthorized',
        title: 'Unauthorized',
        detail: 'the API key is missing; send "Authorization: Bearer <API_KEY>" with a valid key',
        code: 'unauthorized',
        message: 'the API key is missing; send "Authorization: Bearer <API_KEY>" with a valid key',
        status: 401,
      },
    ],
  },
)

export const EXAMPLE_TIME = '2026-11-15T12:00:00.000Z'
export const EXAMPLE_KEY = { id: 'key_4fT9cVq2Lw8ZsXyN', name: 'My shop' }

/** `InvalidRequest` for `invalid_request`, `IfMatch` for `If-Match`, `StockLow` for `stock.low`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[-_.])([a-z])/gi, (_, letter: string) => letter.toUpperCase())
}
