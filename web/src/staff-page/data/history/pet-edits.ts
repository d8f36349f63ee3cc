import type { InventoryEvent } from '@petstore/client'
import { Observable, type Readable } from '../observable.ts'
import type { LiveChanges } from './live-changes.ts'

/** A pet was added, edited or removed. */
export interface PetEdit {
  readonly id: string
  readonly type: 'added' | 'edited' | 'removed'
  readonly petId: bigint
  /** The name after the edit; `undefined` if it is unknown. */
  readonly name: string | undefined
  /** In milliseconds since 1970. */
  readonly at: number
  readonly keyId: string
  /** The fields after the edit. If an earlier edit of the pet is known, only the fields that this one changed. */
  readonly fields: Partial<PetFields>
}

type PetEvent = Extract<InventoryEvent, { readonly type: 'pet' }>
export type PetFields = Pick<PetEvent, 'name' | 'categoryId' | 'status'> & {
  readonly barcode: string | undefined
  readonly lowStockAt: number | undefined
}

const MAX_EDITS = 500

/** The edits of pets since the session began, newest first. The history of the service has only quantities. */
export class PetEdits implements Readable<readonly PetEdit[]> {
  readonly #edits = new Observable<readonly PetEdit[]>([])
  readonly #known = new Map<bigint, PetFields>()

  readonly get = this.#edits.get
  readonly subscribe = this.#edits.subscribe

  constructor(events: LiveChanges<InventoryEvent>) {
    events.subscribe((notice) => {
      const edit = notice.type === 'change' ? this.#editOf(notice.change) : undefined
      if (edit !== undefined) this.#edits.set([edit, ...this.get()].slice(0, MAX_EDITS))
    })
  }

  #editOf(event: InventoryEvent): PetEdit | undefined {
    if (event.type !== 'pet' && event.type !== 'removed') return undefined
    const { id, petId, keyId } = event
    const before = this.#known.get(petId)
    const origin = { id, petId, keyId, at: Date.parse(event.at) }
    if (event.type === 'removed') {
      this.#known.delete(petId)
      return { ...origin, type: 'removed', name: before?.name, fields: {} }
    }
    const { name, categoryId, status, barcode, lowStockAt, change } = event
    const after = { name, categoryId, status, barcode, lowStockAt }
    this.#known.set(petId, after)
    const isNew = change === 'created'
    const fields = before === undefined || isNew ? after : changedFields(before, after)
    return { ...origin, type: isNew ? 'added' : 'edited', name, fields }
  }
}

function changedFields(before: PetFields, after: PetFields): Partial<PetFields> {
  // The cast is safe: `after` has exactly the fields of `PetFields`.
  const names = Object.keys(after) as readonly (keyof PetFields)[]
  const changed = names.filter((name) => before[name] !== after[name])
  return Object.fromEntries(changed.map((name) => [name, after[name]]))
}
