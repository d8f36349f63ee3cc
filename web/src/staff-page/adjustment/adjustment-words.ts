import type { Adjustment, AdjustmentLine } from '@petstore/client'
import { petsWords, piecesWords } from '../ui/words.ts'

/** The units of a line that can still be reversed. A count is one. */
export function reversibleUnits({ counted, delta, reversed }: AdjustmentLine): number {
  return (counted === undefined ? Math.abs(delta) : 1) - reversed
}

/** Such as `12 pets, 96 pieces`. */
export function sizeWords({ lines }: Pick<Adjustment, 'lines'>): string {
  const pieces = lines.reduce((sum, { delta }) => sum + Math.abs(delta), 0)
  return `${petsWords(lines.length)}, ${piecesWords(pieces)}`
}

export const EFFECT_WORDS: Readonly<Record<AdjustmentLine['effect'], string | undefined>> = {
  applied: undefined,
  already_counted: 'already counted',
  superseded: 'replaced by a later count',
}

/** What became of the adjustment since; `undefined` if nothing of it was reversed. */
export function reversedWords({ lines }: Pick<Adjustment, 'lines'>): string | undefined {
  if (lines.every(({ reversed }) => reversed === 0)) return undefined
  return lines.some((line) => reversibleUnits(line) > 0) ? 'Partly taken back' : 'Taken back'
}
