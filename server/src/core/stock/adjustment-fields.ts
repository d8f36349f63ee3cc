import Type from 'typebox'
import { Int64, isCleanText, MAX_QUANTITY, OneOf, Quantity, Text } from '../values/field.ts'

/** Why a quantity changed; part of the contract. */
export const REASONS = ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'] as const
export type Reason = (typeof REASONS)[number]
const MAX_REFERENCE_LENGTH = 200
const CONTROL_CHARACTER = /\p{Cc}/u

export const Reason = OneOf(REASONS, { title: 'Reason', description: 'Why the stock was adjusted.' })

export const Reference = Text(
  {
    maxLength: MAX_REFERENCE_LENGTH,
    description: 'What the adjustment refers to, such as a delivery note; without control characters.',
  },
  `a string of at most ${MAX_REFERENCE_LENGTH} characters without control characters`,
  (text) => isCleanText(text, MAX_REFERENCE_LENGTH, CONTROL_CHARACTER),
)

export const ADJUSTMENT_CHANGE = {
  petId: Int64('The pet whose stock changes. Each pet may occur once in an adjustment.'),
  delta: Type.Optional(
    Type.Refine(
      Type.Integer({
        minimum: -MAX_QUANTITY,
        maximum: MAX_QUANTITY,
        not: { const: 0 },
        description: 'Units that come in or, if negative, go out.',
      }),
      (delta) => delta !== 0,
      () => `an integer other than 0 from ${-MAX_QUANTITY} to ${MAX_QUANTITY}`,
    ),
  ),
  quantity: Type.Optional(Quantity('The new stock count.')),
  expected: Type.Optional(
    Quantity('The expected stock count. If the current count differs, the answer is 412.'),
  ),
}
