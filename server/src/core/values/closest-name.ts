/** Advice for an unknown field or parameter of an operation: the known name that was probably meant, or all known names. */
export function nameAdvice(unknown: string, known: readonly string[]): string {
  if (known.length === 0) return 'this operation has none'
  const closest = closestName(unknown, known)
  return closest === undefined ? `known: ${known.join(', ')}` : `did you mean ${closest}?`
}

/** Longer than any known name, and short enough to compare quickly. */
const MAX_COMPARED_LENGTH = 40
const MAX_EDITS = 3

/** The most similar of the known names, if a typo explains the difference. */
export function closestName(unknown: string, known: readonly string[]): string | undefined {
  const text = lettersOf(unknown.slice(0, MAX_COMPARED_LENGTH))
  for (let edits = 0; edits <= MAX_EDITS; edits++) {
    const found = known.find((name) => {
      const letters = lettersOf(name)
      return edits <= letters.length / 3 && isWithinEdits(edits, text, letters)
    })
    if (found !== undefined) return found
  }
  return undefined
}

/** `last_event_id`, `Last-Event-ID` and `lastEventId` have the same letters. */
function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Whether at most this many edits turn one text into the other: insertions, deletions, replacements or swaps. */
function isWithinEdits(edits: number, one: string, other: string): boolean {
  if (one === other) return true
  if (edits === 0 || Math.abs(one.length - other.length) > edits) return false
  let start = 0
  while (one[start] === other[start]) start++
  const [a, b] = [one.slice(start), other.slice(start)]
  return (
    isWithinEdits(edits - 1, a.slice(1), b) ||
    isWithinEdits(edits - 1, a, b.slice(1)) ||
    isWithinEdits(edits - 1, a.slice(1), b.slice(1)) ||
    (a[0] === b[1] && a[1] === b[0] && isWithinEdits(edits - 1, a.slice(2), b.slice(2)))
  )
}
