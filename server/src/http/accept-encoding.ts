import type { Coding } from './compressed-parts.ts'

/** Ours, the better one first. */
const OFFERED: readonly Coding[] = ['zstd', 'gzip']

export function chosenCoding(acceptEncoding: string | null): Coding | undefined {
  return chosenCodingOf(OFFERED, acceptEncoding)
}

/** The coding that the caller takes and likes best; of those it likes alike, the first one offered. */
export function chosenCodingOf<Offered extends string>(
  offered: readonly Offered[],
  acceptEncoding: string | null,
): Offered | undefined {
  if (acceptEncoding === null) return undefined
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  const weightOf = (coding: Offered) => weights.get(coding) ?? weights.get('*') ?? 0
  let best: Offered | undefined
  for (const coding of offered) {
    if (weightOf(coding) > 0 && (best === undefined || weightOf(coding) > weightOf(best))) best = coding
  }
  return best
}
