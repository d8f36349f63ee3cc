import { isPetstoreError, type PetstoreError } from '../../src/index.ts'

/** The PetstoreError of a call that must fail. */
export async function failureOf(call: PromiseLike<unknown>): Promise<PetstoreError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isPetstoreError(error)) throw new Error(`not a PetstoreError: ${String(error)}`)
  return error
}
