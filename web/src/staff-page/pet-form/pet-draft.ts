import type { NewPet, PetStatus, PetUpdate, SearchRow } from '@petstore/client'
import { readQuantity } from '../quantity/typed-change.ts'

/** The fields of a pet that the form has: all except the metadata. */
type EditedFields = Omit<PetUpdate, 'metadata'>

export interface PetDraft extends Readonly<Record<Exclude<keyof EditedFields, 'status'>, string>> {
  readonly status: PetStatus
  /** Only of a new pet. */
  readonly quantity: string
}

/** Every field, so that the compiler finds a missing one. */
type AllOf<Fields> = { readonly [Name in keyof Fields]-?: Fields[Name] | undefined }

export type PetField = keyof PetDraft
export type PetProblems = Readonly<Partial<Record<PetField, string | undefined>>>

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
  const isThreshold = lowStockAt.trim() === '' || readQuantity(lowStockAt) !== undefined
  const isQuantity = !isNew || readQuantity(quantity) !== undefined
  return {
    name: name.trim() === '' ? 'Enter a name.' : undefined,
    categoryId: categoryId === '' ? 'Choose a category.' : undefined,
    barcode: /\s/.test(barcode.trim()) ? 'A barcode has no spaces.' : undefined,
    lowStockAt: isThreshold ? undefined : 'Enter a whole number of 0 or more, or nothing.',
    quantity: isQuantity ? undefined : 'Enter a whole number of 0 or more.',
  }
}

/** Takes a draft without problems. */
export function newPetOf(
  draft: PetDraft,
): AllOf<Omit<NewPet, 'id' | 'metadata'>> & Pick<NewPet, 'name' | 'categoryId'> {
  return {
    name: draft.name.trim(),
    categoryId: BigInt(draft.categoryId),
    status: draft.status,
    quantity: readQuantity(draft.quantity),
    barcode: draft.barcode.trim() || undefined,
    lowStockAt: readQuantity(draft.lowStockAt),
  }
}

/** Only the changed fields have a value, so that two people can change different fields at once. */
export function updateOf(before: PetDraft, after: PetDraft): AllOf<EditedFields> {
  const changed = <Value>(field: PetField, value: Value) =>
    before[field].trim() === after[field].trim() ? undefined : value
  return {
    name: changed('name', after.name.trim()),
    categoryId: changed('categoryId', BigInt(after.categoryId)),
    status: changed('status', after.status),
    barcode: changed('barcode', after.barcode.trim() || null),
    lowStockAt: changed('lowStockAt', readQuantity(after.lowStockAt) ?? null),
  }
}

/**
 * The draft after somebody else has changed the pet. Fields that the user has not touched follow the pet. `conflicts` are
 * the fields that both have changed; they keep the user's text.
 */
export function rebaseDraft(draft: PetDraft, before: PetDraft, current: PetDraft) {
  const changed = FIELDS.filter((field) => current[field] !== before[field])
  const untouched = changed.filter((field) => draft[field] === before[field])
  const next: PetDraft = {
    ...draft,
    ...Object.fromEntries(untouched.map((field) => [field, current[field]])),
  }
  return { draft: next, conflicts: changed.filter((field) => next[field] !== current[field]) }
}

export function isSameDraft(one: PetDraft, other: PetDraft): boolean {
  return FIELDS.every((field) => one[field] === other[field])
}
