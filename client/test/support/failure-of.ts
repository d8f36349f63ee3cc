import { isPetstoreError, type PetstoreError } from '../../src/index.ts'

/** What a call throws, which has to be a PetstoreError. */
export async function failureOf(call: Promise<unknown>): Promise<PetstoreError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isPetstoreError(error)) throw new Error(`not a PetstoreError: ${String(error)}`)
  return error
}
