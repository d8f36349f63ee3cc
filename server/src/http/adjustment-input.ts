import Type from 'typebox'
import { ADJUSTMENT_CHANGE, choiceProblem, Reason, Reference } from '../core/stock/adjustment-fields.ts'
import { type AdjustmentChange, MAX_CHANGES } from '../core/stock/command.ts'
import { refusal } from '../core/stock/refusal.ts'
import { type ErrorDetail, ServiceError } from '../core/values/errors.ts'
import { isObject, type JsonObject, shown } from '../core/values/exact-json.ts'
import { codecOf } from '../core/values/field.ts'
import { bodyParser, invalid } from './request-input.ts'

const parsePurpose = bodyParser(Type.Object({ reason: Reason, reference: Type.Optional(Reference) }))
const parseFields = bodyParser(Type.Object(ADJUSTMENT_CHANGE))
const parsePetId = bodyParser(Type.Object({ petId: ADJUSTMENT_CHANGE.petId }))
const PET_ID = codecOf('petId', ADJUSTMENT_CHANGE.petId)

/** Throws a ServiceError whose details name every wrong change. */
export function readAdjustment(body: JsonObject) {
  return { ...parsePurpose(body), changes: readChanges(body.changes) }
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
    try {
      changes.push(readChange(sent, seen))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const petId = isObject(sent) ? PET_ID.fromJson(sent.petId) : undefined
      const named = typeof petId === 'bigint' ? { petId } : {}
      failures.push({ index, ...named, code: error.code, message: error.message })
    }
  }
  if (failures.length > 0) throw refusal(failures)
  return changes
}

function readChange(sent: unknown, seen: Set<bigint>): AdjustmentChange {
  if (!isObject(sent)) throw invalid(`a change must be an object, got ${shown(sent)}`)
  const petId = parsePetId(sent).petId
  if (seen.has(petId)) throw invalid(`petId ${petId} occurs twice; send one change for each pet`)
  seen.add(petId)
  const problem = choiceProblem(sent.delta, sent.quantity)
  if (problem !== undefined) throw invalid(problem)
  const { delta, quantity, expected } = parseFields(sent)
  return delta === undefined ? { petId, quantity: quantity ?? 0, expected } : { petId, delta, expected }
}
