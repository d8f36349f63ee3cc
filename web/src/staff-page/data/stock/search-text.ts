const MARKS = /\p{M}+/gu
const PLAIN = /^[\x20-\x7e]*$/

/** Removes case and diacritics, so that `perez` finds `Pérez`. */
export function fold(text: string): string {
  return PLAIN.test(text) ? text.toLowerCase() : text.normalize('NFD').replace(MARKS, '').toLowerCase()
}

/**
 * The text that the search looks through. No term matches across the line end. `join` builds a flat string; engines
 * delay the work of `+`, and the first search would pay for all pets.
 */
export function searchable(name: string | undefined, petId: bigint): string {
  return name === undefined ? `\n${petId}` : [fold(name), String(petId)].join('\n')
}

/** The words of a query. A pet matches if its text has all of them. */
export function searchTerms(query: string): readonly string[] {
  return fold(query)
    .split(/\s+/)
    .filter((term) => term !== '')
}
