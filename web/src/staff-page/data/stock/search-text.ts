import { wordsOf } from '../../../../../server/src/core/catalog/name-words.ts'

/** The words of a name as the service searches them, each after a blank. */
export function searchable(name: string | undefined): string {
  return name === undefined ? '' : ` ${wordsOf(name).join(' ')}`
}

interface Searchable {
  readonly petId: bigint
  readonly searchText: string
}

/** Returns a predicate for the pets that a search of the service finds by name or id. Every pet matches a blank text. */
export function matcherOf(query: string): (pet: Searchable) => boolean {
  const text = query.trim()
  if (text === '') return () => true
  const prefixes = wordsOf(text).map((word) => ` ${word}`)
  return ({ petId, searchText }) =>
    String(petId) === text || (prefixes.length > 0 && prefixes.every((prefix) => searchText.includes(prefix)))
}
