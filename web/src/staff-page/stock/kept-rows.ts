import type { EditState, Edits } from '../data/stock/stock-editor.ts'
import type { TableFilter } from '../data/stock/table-state.ts'

/** What was typed for a row that waits for the user to choose; `undefined` where all is settled. */
export function typedBefore(state: EditState | undefined): string | undefined {
  if (state?.kind !== 'failed' && state?.kind !== 'conflict') return undefined
  const delta = state.kind === 'failed' ? state.adjustment?.delta : undefined
  if (delta === undefined) return String(state.target)
  return delta > 0 ? `+${delta}` : String(delta)
}

/**
 * Which rows stay though the filter does not let them through: somebody is at work on them. What was saved, or is being
 * saved, stays only until another filter is chosen: whoever looks for something else is done with it.
 */
export class KeptRows {
  #filter: TableFilter | undefined
  #left: ReadonlySet<bigint> = new Set()

  of(edits: Edits, edited: bigint | undefined, filter: TableFilter): ReadonlySet<bigint> {
    if (filter !== this.#filter) {
      this.#filter = filter
      this.#left = new Set(edits.keys())
    }
    this.#left = new Set([...this.#left].filter((petId) => edits.has(petId)))
    const kept = [...edits].filter(
      ([petId, state]) => typedBefore(state) !== undefined || !this.#left.has(petId),
    )
    const petIds = kept.map(([petId]) => petId)
    return new Set(edited === undefined ? petIds : [...petIds, edited])
  }
}
