import { EXPECTED_BARCODE, EXPECTED_NAME, isBarcode, isName } from '../core/catalog/catalog-rules.ts'
import type { CategoryDraft, CategoryPatch } from '../core/catalog/category.ts'
import type { PetDraft, PetPatch } from '../core/catalog/pet.ts'
import { MAX_QUANTITY, PET_STATUSES, type PetStatus } from '../core/stock/inventory.ts'
import { int64Of, invalid, shown } from './request-input.ts'

type Fields = Readonly<Record<string, unknown>>

/** Each throws a ServiceError that says which field is wrong, and how. */
export function readNewPet(body: object): PetDraft {
  const { id, name, categoryId, status, quantity, barcode, lowStockAt }: Fields = { ...body }
  return {
    ...{ name: readName(name), categoryId: readId('categoryId', categoryId) },
    status: status === undefined ? 'available' : readStatus(status),
    quantity: quantity === undefined ? 0 : readCount('quantity', quantity),
    ...(id === undefined ? {} : { id: readId('id', id) }),
    ...(barcode === undefined ? {} : { barcode: readBarcode(barcode) }),
    ...(lowStockAt === undefined ? {} : { lowStockAt: readCount('lowStockAt', lowStockAt) }),
  }
}

export function readPetUpdate(body: object): { readonly patch: PetPatch } {
  const { name, categoryId, status, barcode, lowStockAt }: Fields = { ...body }
  const patch = {
    ...(name === undefined ? {} : { name: readName(name) }),
    ...(categoryId === undefined ? {} : { categoryId: readId('categoryId', categoryId) }),
    ...(status === undefined ? {} : { status: readStatus(status) }),
    ...(barcode === undefined ? {} : { barcode: barcode === null ? null : readBarcode(barcode) }),
    ...readThreshold(lowStockAt),
  }
  return { patch: atLeastOne(patch, 'name, categoryId, status, barcode and lowStockAt') }
}

export function readNewCategory(body: object): CategoryDraft {
  const { id, name, lowStockAt }: Fields = { ...body }
  return {
    name: readName(name),
    ...(id === undefined ? {} : { id: readId('id', id) }),
    ...(lowStockAt === undefined ? {} : { lowStockAt: readCount('lowStockAt', lowStockAt) }),
  }
}

export function readCategoryUpdate(body: object): { readonly patch: CategoryPatch } {
  const { name, lowStockAt }: Fields = { ...body }
  const patch = {
    ...(name === undefined ? {} : { name: readName(name) }),
    ...readThreshold(lowStockAt),
  }
  return { patch: atLeastOne(patch, 'name and lowStockAt') }
}

function atLeastOne<Patch extends object>(patch: Patch, names: string): Patch {
  if (Object.keys(patch).length === 0)
    throw invalid(`the body must have at least one of ${names}, got none of them`)
  return patch
}

function readThreshold(value: unknown): { lowStockAt?: number | null } {
  if (value === undefined) return {}
  return { lowStockAt: value === null ? null : readCount('lowStockAt', value) }
}

function readName(value: unknown): string {
  if (typeof value === 'string' && isName(value)) return value
  throw invalid(`name must be ${EXPECTED_NAME}, got ${shown(value)}`)
}

function readId(name: string, value: unknown): bigint {
  const id = int64Of(value)
  if (id !== undefined) return id
  throw invalid(`${name} must be an int64, got ${shown(value)}`)
}

function readStatus(value: unknown): PetStatus {
  const status = PET_STATUSES.find((one) => one === value)
  if (status !== undefined) return status
  throw invalid(`status must be one of ${PET_STATUSES.join(', ')}, got ${shown(value)}`)
}

function readBarcode(value: unknown): string {
  if (typeof value === 'string' && isBarcode(value)) return value
  throw invalid(`barcode must be ${EXPECTED_BARCODE}, got ${shown(value)}`)
}

function readCount(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_QUANTITY)
    return value
  throw invalid(`${name} must be an integer from 0 to ${MAX_QUANTITY}, got ${shown(value)}`)
}
