import { expect, test } from 'bun:test'
import { retryUntilSuccess } from '../../src/store/postgres/connection.ts'

test('a hanging attempt does not block the next one, and its late end has no effect', async () => {
  const attempts: PromiseWithResolvers<string>[] = []
  const failures: unknown[] = []
  const discarded: string[] = []
  const found = retryUntilSuccess({
    attempt: () => {
      const attempt = Promise.withResolvers<string>()
      attempts.push(attempt)
      if (attempts.length === 1) attempt.reject('refused')
      if (attempts.length === 4) attempt.resolve('the fourth')
      return attempt.promise
    },
    onFailure: (error) => failures.push(error),
    discard: (late) => discarded.push(late),
    isCancelled: () => false,
  })
  expect(await found).toBe('the fourth')
  attempts[1]?.reject('too late')
  attempts[2]?.resolve('the third')
  await Bun.sleep(0)
  expect([failures, discarded, attempts.length]).toEqual([['refused'], ['the third'], 4])
})

test('it ends without a result once nobody needs it', async () => {
  let isCancelled = false
  const found = retryUntilSuccess({
    attempt: async () => {
      isCancelled = true
      throw new Error('refused')
    },
    onFailure: () => {},
    discard: () => {},
    isCancelled: () => isCancelled,
  })
  expect(await found).toBeUndefined()
})
