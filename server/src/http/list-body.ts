import type { TObject } from 'typebox'
import { refusal, toFailure } from '../core/stock/refusal.ts'
import { type ErrorDetail, ServiceError } from '../core/values/errors.ts'
import { isObject, type JsonObject } from '../core/values/exact-json.ts'
import {
  codecOf,
  describeValue,
  type Fields,
  Int64,
  invalidField,
  type RecordOf,
} from '../core/values/field.ts'
import { bodyParser, invalid, rejectUnknownNames } from './operation.ts'

interface ListSpec<Element> {
  /** The field of the body that has the list, such as `changes`. */
  readonly listField: string
  /** The name of an element in error messages, such as `a change`. */
  readonly elementName: string
  readonly max: number
  /** The field of an element that has the id of its pet. */
  readonly petIdField: string
  parseElement(element: JsonObject): Element
}

/** Parses a list of 1 to `max` elements. Throws a ServiceError whose details list every invalid element. */
export function parseList<Element>(
  value: unknown,
  { listField, elementName, max, petIdField, parseElement }: ListSpec<Element>,
): Element[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > max) {
    const got = Array.isArray(value) ? `${value.length} of them` : describeValue(value)
    throw invalidField(listField, `${listField} must be an array of 1 to ${max} ${listField}, got ${got}`)
  }
  const parsed: Element[] = []
  const failures: ErrorDetail[] = []
  for (const [index, element] of value.entries()) {
    try {
      if (!isObject(element)) throw invalid(`${elementName} must be an object, got ${describeValue(element)}`)
      parsed.push(parseElement(element))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const petId = isObject(element) ? PET_ID_CODEC.fromJson(element[petIdField]) : undefined
      failures.push(toFailure(error, index, typeof petId === 'bigint' ? petId : undefined))
    }
  }
  if (failures.length > 0) throw refusal(failures, listField)
  return parsed
}

/** A parser of elements with this schema, which also rejects unknown fields. Error messages use `elementName`. */
export function elementParser<FieldSet extends Fields>(
  schema: TObject<FieldSet>,
  elementName: string,
): (element: JsonObject) => RecordOf<FieldSet> {
  const names = Object.keys(schema.properties)
  const parse = bodyParser(schema, elementName)
  return (element) => {
    rejectUnknownNames('field', Object.keys(element), names)
    return parse(element)
  }
}

const PET_ID_CODEC = codecOf('petId', Int64('The pet of an element.'))
