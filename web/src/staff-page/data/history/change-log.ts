import type { RecordedReason } from '@petstore/client'

export interface Change {
  readonly petId: bigint
  readonly before: number
  readonly after: number
  /** In milliseconds since 1970. */
  readonly at: number
  readonly keyId: string
  /** `undefined` if the change comes from an event: it has only the id of the key. */
  readonly keyName: string | undefined
  readonly reason?: RecordedReason | undefined
  readonly reference?: string | undefined
}

/** A change in the form of the API: an entry of the history, or an event. */
type ApiChange = Omit<Change, 'at' | 'keyName'> & { readonly at: string; readonly keyName?: string }

export function changeOf(change: ApiChange): Change {
  const { petId, before, after, at, keyId, keyName, reason, reference } = change
  return { petId, before, after, at: Date.parse(at), keyId, keyName, reason, reference }
}

/** Identifies a change. An event and the entry of the history for the same change have the same key. */
export function changeKey({ petId, at, before, after, keyId }: Change): string {
  return `${petId} ${at} ${before} ${after} ${keyId}`
}
