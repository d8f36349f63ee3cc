const MARKS = /\p{M}+/gu
/** Beyond ASCII a letter may carry marks, or have another form in lower case. */
const PLAIN = /^[\x20-\x7e]*$/

/** A text as the search compares it: without case and without marks, so that `perez` finds `Pérez`. */
export function fold(text: string): string {
  return PLAIN.test(text) ? text.toLowerCase() : text.normalize('NFD').replace(MARKS, '').toLowerCase()
}

/**
 * What the search looks through, made once for each pet. The line end keeps a term from matching across. Joined, not
 * added up: engines put off the work of an addition, and the first letter that is typed would pay for all of them.
 */
export function searchable(name: string | undefined, petId: bigint): string {
  return name === undefined ? `\n${petId}` : [fold(name), String(petId)].join('\n')
}

/** The words to look for; a pet is found where all of them are. */
export function searchTerms(query: string): readonly string[] {
  return fold(query)
    .split(/\s+/)
    .filter((term) => term !== '')
}
