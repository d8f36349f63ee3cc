import Type from 'typebox'
import { Note } from '../catalog/catalog-fields.ts'
import {
  DateTime,
  Int64,
  isCleanText,
  MAX_QUANTITY,
  OneOf,
  Quantity,
  type RecordOf,
  Text,
} from '../values/field.ts'

/** Why a quantity changed; part of the contract. */
export const REASONS = ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'] as const
export type Reason = (typeof REASONS)[number]

/** Why an adjustment is reversed. `correction`: it never happened. `returned`: the goods come back. */
export const REVERSAL_REASONS = ['correction', 'returned'] as const
export type ReversalReason = (typeof REVERSAL_REASONS)[number]

/** Every reason that an adjustment can have. */
const RECORDED_REASONS = [...new Set([...REASONS, ...REVERSAL_REASONS])]
export type RecordedReason = Reason | ReversalReason

const MAX_REFERENCE_LENGTH = 200
const CONTROL_CHARACTER = /\p{Cc}/u

export const Reason = OneOf(REASONS, { title: 'Reason', description: 'Why the stock was adjusted.' })
export const ReversalReason = OneOf(REVERSAL_REASONS, {
  title: 'ReversalReason',
  description:
    'correction: the adjustment never happened. Its reversal has the same time, so a count in between keeps its word. returned: the goods come back now.',
})
export const RecordedReason = OneOf(RECORDED_REASONS, {
  title: 'RecordedReason',
  description: 'Why the stock was adjusted. Only a reversal has the reason `correction`.',
})

export const referenceField = (description: string) =>
  Text(
    { maxLength: MAX_REFERENCE_LENGTH, description },
    `a string of at most ${MAX_REFERENCE_LENGTH} characters without control characters`,
    (text) => isCleanText(text, MAX_REFERENCE_LENGTH, CONTROL_CHARACTER),
  )

export const Reference = referenceField(
  'What it refers to in another system, such as a delivery note or a receipt; without control characters.',
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

const EFFECTS = ['applied', 'already_counted', 'superseded'] as const
/** What a line of an adjustment did to the stock when it was recorded. */
export type Effect = (typeof EFFECTS)[number]

export const ADJUSTMENT_LINE = {
  petId: Int64('The pet of the line.'),
  before: Quantity('The quantity before the adjustment was recorded.'),
  after: Quantity('The quantity after the adjustment was recorded.'),
  delta: Type.Integer({
    minimum: -MAX_QUANTITY,
    maximum: MAX_QUANTITY,
    description: 'Units that came in or, if negative, went out. Of a count, what it changed.',
  }),
  counted: Type.Optional(Quantity('The counted quantity. Absent if the line is not a count.')),
  effect: OneOf(EFFECTS, {
    title: 'AdjustmentEffect',
    description:
      'applied: the line changed the stock, or confirmed it. already_counted: it happened before the latest count, which includes it, so it changed nothing. superseded: it is a count that was made before the latest one, so it changed nothing.',
  }),
  reversed: Quantity('Units of the line that were reversed since. A reversed count has 1.'),
}
export type AdjustmentLine = RecordOf<typeof ADJUSTMENT_LINE>

/** The fields of an adjustment, except its lines. */
export const ADJUSTMENT_HEAD = {
  id: Int64('Identifier of the adjustment.'),
  reason: Type.Optional(RecordedReason),
  reference: Type.Optional(Reference),
  note: Type.Optional(Note('A note about the adjustment.')),
  occurredAt: DateTime('When it happened on the shelf, in UTC.'),
  recordedAt: DateTime('When it was recorded, in UTC.'),
  keyId: Type.String({ description: 'Public identifier of the API key that made the adjustment.' }),
  orderId: Type.Optional(Int64('The order that was completed by this adjustment.')),
  reverses: Type.Optional(Int64('The adjustment that this adjustment reverses.')),
}

const { reversed: _, ...STATED_LINE } = ADJUSTMENT_LINE
/** A row of a file of adjustments: one line of an adjustment. Its reversals are rows of their own. */
export const ADJUSTMENT_ROW = { ...ADJUSTMENT_HEAD, ...STATED_LINE }
export type AdjustmentRow = RecordOf<typeof ADJUSTMENT_ROW>

export interface Adjustment extends RecordOf<typeof ADJUSTMENT_HEAD> {
  /** The adjustments that have reversed units of this one. */
  readonly reversedBy: readonly bigint[]
  readonly lines: readonly AdjustmentLine[]
}

/** An absent field selects all adjustments. */
export interface AdjustmentFilter {
  readonly petId?: bigint | undefined
  readonly reason?: RecordedReason | undefined
  readonly keyId?: string | undefined
  readonly reference?: string | undefined
  readonly orderId?: bigint | undefined
  /** Recorded from this time on. */
  readonly since?: number | undefined
  /** Recorded before this time. */
  readonly until?: number | undefined
}
