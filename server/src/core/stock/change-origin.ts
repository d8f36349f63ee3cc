import type { RecordedReason } from './adjustment.ts'

/** The key id that the log records for changes that no API key made. */
export const SYSTEM_KEY_ID = 'petstore'

/** The key, the time and the reason of a change. The log records them. */
export interface ChangeOrigin {
  readonly keyId: string
  readonly at: number
  readonly reason?: RecordedReason | undefined
  readonly reference?: string | undefined
}
