/** Advice for an unknown name: the known name that it probably stands for, or all known names. */
export function nameAdvice(unknown: string, known: readonly string[]): string {
  if (known.length === 0) return 'this operation has none'
  const closest = closestName(unknown, known)
  return closest === undefined ? `known are ${known.join(', ')}` : `did you mean ${closest}?`
}

/** Undefined if none is similar. */
function closestName(unknown: string, known: readonly string[]): string | undefined {
  const wanted = lettersOf(unknown)
  const ranked = known
    .map((name) => ({ name, distance: editDistance(wanted, lettersOf(name)) }))
    .sort((a, b) => a.distance - b.distance)
  const [first] = ranked
  const tolerated = Math.ceil(wanted.length / 3)
  return first !== undefined && first.distance <= tolerated ? first.name : undefined
}

/** `last_event_id`, `Last-Event-ID` and `lastEventId` have the same letters. */
function lettersOf(name: string): string {
  return name
    .slice(0, MAX_COMPARED)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

/** Longer than any known name, and short enough to compare quickly. */
const MAX_COMPARED = 40

/** The number of letters to insert, delete or replace (Levenshtein). */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1]
    for (const [column, otherLetter] of [...other].entries()) {
      const replaced = (previous[column] ?? 0) + (letter === otherLetter ? 0 : 1)
      const deleted = (previous[column + 1] ?? 0) + 1
      const inserted = (current[column] ?? 0) + 1
      current.push(Math.min(replaced, deleted, inserted))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
