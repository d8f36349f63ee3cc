import type { Static } from 'typebox'
import {
  EXPECTED_DELTA,
  EXPECTED_REASON,
  EXPECTED_REFERENCE,
  isDelta,
  isReason,
  isReference,
  wrongChoice,
} from '../core/stock/adjustment-rules.ts'
import { type AdjustmentChange, MAX_CHANGES } from '../core/stock/command.ts'
import { MAX_QUANTITY } from '../core/stock/inventory.ts'
import { refusal } from '../core/stock/refusal.ts'
import { type ErrorDetail, ServiceError } from '../core/values/errors.ts'
import { int64Of, invalid, isObject, type JsonObject, quoted, shown } from './request-input.ts'
import type { InventoryAdjustment } from './resources.ts'

const EXPECTED_QUANTITY = `an integer from 0 to ${MAX_QUANTITY}`

/** Throws a ServiceError whose details name every change that is not right. */
export function readAdjustment(body: JsonObject): Static<typeof InventoryAdjustment> {
  const { reason, reference, changes } = body
  if (!isReason(reason)) throw invalid(`reason must be ${EXPECTED_REASON}, got ${shown(reason)}`)
  const told = reference === undefined ? {} : { reference: readReference(reference) }
  return { reason, ...told, changes: readChanges(changes) }
}

function readReference(value: unknown): string {
  if (isReference(value)) return value
  const got = typeof value === 'string' ? quoted(value) : shown(value)
  throw invalid(`reference must be ${EXPECTED_REFERENCE}, got ${got}`)
}

function readChanges(value: unknown): AdjustmentChange[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_CHANGES) {
    const got = Array.isArray(value) ? `${value.length} of them` : shown(value)
    throw invalid(`changes must be an array of 1 to ${MAX_CHANGES} changes, got ${got}`)
  }
  const failures: ErrorDetail[] = []
  const seen = new Set<bigint>()
  const changes: AdjustmentChange[] = []
  for (const [index, sent] of value.entries()) {
    const petId = isObject(sent) ? int64Of(sent.petId) : undefined
    try {
      changes.push(readChange(sent, petId, seen))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const named = petId === undefined ? {} : { petId }
      failures.push({ index, ...named, code: error.code, message: error.message })
    }
  }
  if (failures.length > 0) throw refusal(failures)
  return changes
}

function readChange(sent: unknown, petId: bigint | undefined, seen: Set<bigint>): AdjustmentChange {
  if (!isObject(sent)) throw invalid(`a change must be an object, got ${shown(sent)}`)
  if (petId === undefined) throw invalid(`petId must be an int64, got ${shown(sent.petId)}`)
  if (seen.has(petId)) throw invalid(`petId ${petId} is there twice; give each pet one change`)
  seen.add(petId)
  const { delta, quantity, expected } = sent
  const problem = wrongChoice(delta, quantity)
  if (problem !== undefined) throw invalid(problem)
  const before = expected === undefined ? {} : { expected: readQuantity('expected', expected) }
  return delta === undefined
    ? { petId, quantity: readQuantity('quantity', quantity), ...before }
    : { petId, delta: readDelta(delta), ...before }
}

function readQuantity(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && typeof value === 'number' && value >= 0) return value + 0
  throw invalid(`${name} must be ${EXPECTED_QUANTITY}, got ${shown(value)}`)
}

function readDelta(value: unknown): number {
  if (isDelta(value)) return value
  throw invalid(`delta must be ${EXPECTED_DELTA}, got ${shown(value)}`)
}
