import {
  etagOf,
  InsufficientStockError,
  isPetstoreError,
  OrderClosedError,
  PetstoreClient,
} from '@petstore/client'

/** Stops an endless stream after its first event. */
const ENOUGH = new Error('enough')

/** Runs a sample like a module, and returns the first argument of each `console.log`. */
export async function printed(code: string, isStream: boolean): Promise<unknown[]> {
  const values: unknown[] = []
  const log = (value: unknown) => {
    values.push(value)
    if (isStream && typeof value !== 'number') throw ENOUGH
  }
  const body = code.replace(/^import .*\n/, '')
  const AsyncFunction = (async () => {}).constructor as new (
    ...source: string[]
  ) => (...values: unknown[]) => Promise<void>
  const given = {
    PetstoreClient,
    InsufficientStockError,
    OrderClosedError,
    isPetstoreError,
    etagOf,
    console: { log },
  }
  await new AsyncFunction(...Object.keys(given), body)(...Object.values(given)).catch((error) => {
    if (error !== ENOUGH) throw error
  })
  return values
}
