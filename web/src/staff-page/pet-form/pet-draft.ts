import type { NewPet, PetStatus, PetUpdate, SearchRow } from '@petstore/client'
import { readQuantity } from '../quantity/typed-change.ts'

/** The texts in the form of a pet. */
export interface PetDraft {
  readonly name: string
  readonly categoryId: string
  readonly status: PetStatus
  readonly barcode: string
  readonly lowStockAt: string
  /** Only of a new pet. */
  readonly quantity: string
}

export type PetField = keyof PetDraft
export type PetProblems = Readonly<Partial<Record<PetField, string>>>

export const FIELD_LABELS: Readonly<Record<PetField, string>> = {
  name: 'Name',
  categoryId: 'Category',
  status: 'Status',
  barcode: 'Barcode',
  lowStockAt: 'Warn me at',
  quantity: 'In stock',
}

const FIELDS = Object.keys(FIELD_LABELS) as readonly PetField[]

export function newDraft(categoryId: bigint | undefined): PetDraft {
  return {
    name: '',
    categoryId: categoryId === undefined ? '' : String(categoryId),
    status: 'available',
    barcode: '',
    lowStockAt: '',
    quantity: '0',
  }
}

export function draftOf({ name, categoryId, status, barcode = '', ownLowStockAt }: SearchRow): PetDraft {
  const lowStockAt = ownLowStockAt === undefined ? '' : String(ownLowStockAt)
  return { name, categoryId: String(categoryId), status, barcode, lowStockAt, quantity: '' }
}

/** Problems that the form can find. The service checks the rest. */
export function problemsOf(draft: PetDraft, isNew: boolean): PetProblems {
  const { name, categoryId, barcode, lowStockAt, quantity } = draft
  return {
    ...(name.trim() === '' ? { name: 'Enter a name.' } : {}),
    ...(categoryId === '' ? { categoryId: 'Choose a category.' } : {}),
    ...(/\s/.test(barcode.trim()) ? { barcode: 'A barcode has no spaces.' } : {}),
    ...(lowStockAt.trim() !== '' && readQuantity(lowStockAt) === undefined
      ? { lowStockAt: 'Enter a whole number of 0 or more, or nothing.' }
      : {}),
    ...(isNew && readQuantity(quantity) === undefined
      ? { quantity: 'Enter a whole number of 0 or more.' }
      : {}),
  }
}

/** Takes a draft without problems. */
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

/** Only the changed fields, so that two people can change different fields at once. */
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
 * The draft after somebody else has changed the pet. Fields that the user has not touched follow the pet. `conflicts` are
 * the fields that both have changed; they keep the user's text.
 */
export function rebaseDraft(draft: PetDraft, before: PetDraft, current: PetDraft) {
  const changed = FIELDS.filter((field) => current[field] !== before[field])
  const conflicts = changed.filter(
    (field) => draft[field] !== before[field] && draft[field] !== current[field],
  )
  const untouched = changed.filter((field) => draft[field] === before[field])
  const next: PetDraft = {
    ...draft,
    ...Object.fromEntries(untouched.map((field) => [field, current[field]])),
  }
  return { draft: next, conflicts }
}

export function isSameDraft(one: PetDraft, other: PetDraft): boolean {
  return FIELDS.every((field) => one[field] === other[field])
}
