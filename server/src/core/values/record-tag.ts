import { createHash } from 'node:crypto'
import { ServiceError } from './errors.ts'
import { type Fields, jsonTextWriter } from './field.ts'

export function contentHash(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}

/** Changes exactly when a field of the record changes. The same on every instance, and after a restart. */
export function recordTag(fields: Fields, record: object): string {
  return contentHash(jsonTextWriter(fields)(record as Readonly<Record<string, unknown>>))
}

/** A condition of a change. A command with this condition changes nothing if the record has none of the tags. */
export interface TagCondition {
  /** `undefined` allows every state of the record. */
  readonly onlyIfTags?: readonly string[] | undefined
}

export function allowsRecord({ onlyIfTags }: TagCondition, fields: Fields, record: object): boolean {
  return onlyIfTags === undefined || onlyIfTags.includes(recordTag(fields, record))
}

/** `record` names the record, such as `order 17`. */
export function recordChanged(record: string): ServiceError {
  return new ServiceError(
    'precondition_failed',
    `${record} is not in the state that If-Match names; read it again before you retry`,
  )
}
