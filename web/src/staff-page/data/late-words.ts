import type { AdjustmentLine } from '@petstore/client'

/** Why lines that were sent late did not change the stock; `undefined` if all did. */
export function lateWords(
  lines: readonly Pick<AdjustmentLine, 'petId' | 'effect'>[],
  nameOf: (petId: bigint) => string,
): string | undefined {
  const late = lines.filter(({ effect }) => effect !== 'applied')
  const [first] = late
  if (first === undefined) return undefined
  const name = late.length === 1 ? nameOf(first.petId) : `${late.length.toLocaleString('en')} pets`
  const were = late.length === 1 ? 'was' : 'were'
  return `${name} ${were} counted after that, so the later count stays as it is.`
}
