import { EXPECTED_DELTA, isDelta, wrongChoice } from '../stock/adjustment-rules.ts'
import type { AdjustmentChange } from '../stock/command.ts'
import { BadRow, type Column, PET_ID, QUANTITY, type RowReader, required } from './exchange-rows.ts'

const DELTA: Column<number> = {
  name: 'delta',
  json: 'number',
  expected: EXPECTED_DELTA,
  read: parseDelta,
  isOptional: true,
}
const NEW_QUANTITY: Column<number> = { ...QUANTITY, isOptional: true }
const EXPECTED: Column<number> = { ...NEW_QUANTITY, name: 'expected' }

/** What came in or went out, pet by pet. */
export const ADJUSTMENT_ROWS: RowReader<AdjustmentChange> = {
  noun: 'pet',
  columns: [PET_ID, DELTA, NEW_QUANTITY, EXPECTED],
  read: ([petId, delta, quantity, expected]) => {
    const id = required(PET_ID, petId)
    const problem = wrongChoice(delta || undefined, quantity || undefined)
    if (problem !== undefined) throw new BadRow(problem)
    const before = expected ? { expected: required(EXPECTED, expected) } : {}
    return delta
      ? { petId: id, delta: required(DELTA, delta), ...before }
      : { petId: id, quantity: required(NEW_QUANTITY, quantity), ...before }
  },
}

/** What somebody has counted on the shelf. */
export const COUNT_ROWS: RowReader<AdjustmentChange> = {
  noun: 'pet',
  columns: [PET_ID, QUANTITY],
  read: ([petId, quantity]) => ({ petId: required(PET_ID, petId), quantity: required(QUANTITY, quantity) }),
}

/** With a plus or without. */
function parseDelta(text: string): number | undefined {
  const value = /^[+-]?[1-9][0-9]{0,15}$/.test(text) ? Number(text) : undefined
  return isDelta(value) ? value : undefined
}
