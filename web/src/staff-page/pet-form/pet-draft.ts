import type { NewPet, PetStatus, PetUpdate, SearchRow } from '@petstore/client'
import { readQuantity } from '../quantity/typed-change.ts'

/** A pet as a form holds it: as it is typed. */
export interface PetDraft {
  readonly name: string
  readonly categoryId: string
  readonly status: PetStatus
  readonly barcode: string
  readonly lowStockAt: string
  /** Of a new one; the quantity of others has its own ways. */
  readonly quantity: string
}

export type PetField = keyof PetDraft
export type PetProblems = Readonly<Partial<Record<PetField, string>>>

export const FIELD_WORDS: Readonly<Record<PetField, string>> = {
  name: 'Name',
  categoryId: 'Category',
  status: 'Status',
  barcode: 'Barcode',
  lowStockAt: 'Low at',
  quantity: 'In stock',
}

const FIELDS = Object.keys(FIELD_WORDS) as readonly PetField[]

export function newDraft(categoryId: bigint | undefined, barcode = ''): PetDraft {
  return {
    ...{ name: '', categoryId: categoryId === undefined ? '' : String(categoryId), status: 'available' },
    ...{ barcode, lowStockAt: '', quantity: '0' },
  }
}

export function draftOf({ name, categoryId, status, barcode = '', ownLowStockAt }: SearchRow): PetDraft {
  const lowStockAt = ownLowStockAt === undefined ? '' : String(ownLowStockAt)
  return { name, categoryId: String(categoryId), status, barcode, lowStockAt, quantity: '' }
}

/** What keeps it from being sent. What else is allowed the service decides. */
export function problemsOf(draft: PetDraft, isNew: boolean): PetProblems {
  const { name, categoryId, barcode, lowStockAt, quantity } = draft
  return {
    ...(name.trim() === '' ? { name: 'Enter a name.' } : {}),
    ...(categoryId === '' ? { categoryId: 'Choose a category.' } : {}),
    ...(/\s/.test(barcode.trim()) ? { barcode: 'A barcode has no blanks in it.' } : {}),
    ...(lowStockAt.trim() !== '' && readQuantity(lowStockAt) === undefined
      ? { lowStockAt: 'A whole number of 0 or more, or nothing.' }
      : {}),
    ...(isNew && readQuantity(quantity) === undefined ? { quantity: 'A whole number of 0 or more.' } : {}),
  }
}

/** Only of a draft without problems. */
export function newPetOf(draft: PetDraft): NewPet {
  const [barcode, lowStockAt] = [draft.barcode.trim(), readQuantity(draft.lowStockAt)]
  return {
    name: draft.name.trim(),
    categoryId: BigInt(draft.categoryId),
    status: draft.status,
    quantity: readQuantity(draft.quantity) ?? 0,
    ...(barcode === '' ? {} : { barcode }),
    ...(lowStockAt === undefined ? {} : { lowStockAt }),
  }
}

/** What was changed, and nothing else: so two who change different things both get their way. */
export function updateOf(before: PetDraft, after: PetDraft): PetUpdate {
  const isOther = (field: PetField) => before[field].trim() !== after[field].trim()
  return {
    ...(isOther('name') ? { name: after.name.trim() } : {}),
    ...(isOther('categoryId') ? { categoryId: BigInt(after.categoryId) } : {}),
    ...(isOther('status') ? { status: after.status } : {}),
    ...(isOther('barcode') ? { barcode: after.barcode.trim() === '' ? null : after.barcode.trim() } : {}),
    ...(isOther('lowStockAt') ? { lowStockAt: readQuantity(after.lowStockAt) ?? null } : {}),
  }
}

/**
 * The draft once somebody else has changed the pet: what the user has not touched follows it. `overtaken` are the fields
 * that both have changed, where the user's own stays.
 */
export function followed(draft: PetDraft, before: PetDraft, now: PetDraft) {
  const theirs = FIELDS.filter((field) => now[field] !== before[field])
  const overtaken = theirs.filter((field) => draft[field] !== before[field] && draft[field] !== now[field])
  const taken = theirs.filter((field) => draft[field] === before[field])
  const next: PetDraft = { ...draft, ...Object.fromEntries(taken.map((field) => [field, now[field]])) }
  return { draft: next, overtaken }
}
