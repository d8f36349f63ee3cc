import { ADJUSTMENT_CHANGE, choiceProblem } from '../stock/adjustment-fields.ts'
import type { AdjustmentChange } from '../stock/command.ts'
import { codecOf } from '../values/field.ts'
import { BadRow, type Column, type Field, type RowReader, readField } from './exchange-rows.ts'

const PET_ID = codecOf('petId', ADJUSTMENT_CHANGE.petId)
const QUANTITY = codecOf('quantity', ADJUSTMENT_CHANGE.quantity)
const EXPECTED = codecOf('expected', ADJUSTMENT_CHANGE.expected)
const DELTA = withPlus(codecOf('delta', ADJUSTMENT_CHANGE.delta))

/** What came in or went out, pet by pet. */
export const ADJUSTMENT_ROWS: RowReader<AdjustmentChange> = {
  noun: 'pet',
  columns: [PET_ID, DELTA, QUANTITY, EXPECTED],
  read: ([petIdText, delta, quantity, expectedText]) => {
    const petId = BigInt(String(readField(PET_ID, petIdText)))
    const problem = choiceProblem(delta || undefined, quantity || undefined)
    if (problem !== undefined) throw new BadRow(problem)
    const expected = expectedText ? { expected: readNumber(EXPECTED, expectedText) } : {}
    return delta
      ? { petId, delta: readNumber(DELTA, delta), ...expected }
      : { petId, quantity: readNumber(QUANTITY, quantity), ...expected }
  },
}

/** A count of the shelf. */
export const COUNT_ROWS: RowReader<AdjustmentChange> = {
  noun: 'pet',
  columns: [PET_ID, { ...QUANTITY, isOptional: false }],
  read: ([petId, quantity]) => ({
    petId: BigInt(String(readField(PET_ID, petId))),
    quantity: readNumber(QUANTITY, quantity),
  }),
}

function readNumber(column: Column, text: Field): number {
  return Number(readField(column, text))
}

/** A file may write +5. */
function withPlus(column: Column): Column {
  return { ...column, fromText: (text) => column.fromText(text.replace(/^\+(?=[1-9])/, '')) }
}
