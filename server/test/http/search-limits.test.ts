import { expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const PATH = '/inventory/search?q=biscuit'

test('the second search of a key waits for its first, and a search of another key does not', async () => {
  const gate = Promise.withResolvers<void>()
  let begun = 0
  const service = await TestService.start({
    wrapStore: (store) => ({
      ...store,
      searchPets: async (...search) => {
        if (++begun === 1) await gate.promise
        return store.searchPets(...search)
      },
    }),
  })
  const other = await service.createKey('enterprise')
  const answered: string[] = []
  const send = async (name: string, key: string) => {
    const { status } = await service.call('GET', PATH, { key })
    answered.push(`${name} ${status}`)
  }
  const first = send('first', service.key)
  await until(() => begun === 1)
  const second = send('second', service.key)
  // The searches of the other key are sent later and answered earlier.
  for (const name of ['third', 'fourth', 'fifth']) await send(name, other.secret)
  expect([begun, answered]).toEqual([4, ['third 200', 'fourth 200', 'fifth 200']])
  gate.resolve()
  await Promise.all([first, second])
  expect([begun, answered.slice(3)]).toEqual([5, ['first 200', 'second 200']])
})
