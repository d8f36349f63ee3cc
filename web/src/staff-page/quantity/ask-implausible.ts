import { ask } from '../ui/confirm.tsx'

/** A question names this many pets. */
const MAX_NAMED = 5

/** Asks about quantities that may be mistakes, one line for each pet. Without any, the answer is yes. */
export async function askImplausible(lines: readonly string[], yes: string): Promise<boolean> {
  if (lines.length === 0) return true
  const rest = lines.length - MAX_NAMED
  const text = rest > 0 ? [...lines.slice(0, MAX_NAMED), `And ${rest.toLocaleString('en')} more.`] : lines
  return ask({ title: 'Is this amount right?', text, yes, no: 'Look at it again' })
}
