import { expect } from 'bun:test'
import { WAIT_WITHIN_MS } from './shop.ts'

/** A page comes to it in its own time: what was there before may still be on its way out. */
export async function expectSoon<T>(look: () => Promise<T>, expected: T): Promise<void> {
  const end = Date.now() + WAIT_WITHIN_MS
  while (Date.now() < end && !Bun.deepEquals(await look(), expected)) await Bun.sleep(20)
  expect<unknown>(await look()).toEqual(expected)
}
