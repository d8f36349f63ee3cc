import { expect, test } from 'bun:test'
import { Worker } from 'node:worker_threads'
import { searchOf } from '../../src/core/catalog/search.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { Reader } from '../../src/store/workers.ts'
import { addPets } from '../support/add-pets.ts'
import { freshFile } from './fresh-file.ts'
import { change } from './plain-rows.ts'
import { ALL } from './search-model.ts'

const file = freshFile()

test('a search runs in a worker and blocks nobody else', async () => {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const store = openSqliteStore(file.path, { readerStartSignal: gate })
  await addPets(store, [{ id: 1n, name: 'Rex', categoryId: 1n, status: 'available', quantity: 3 }])
  const searching = store.searchPets(searchOf({ ...ALL, q: 'rex' }), { after: undefined, limit: 9 })
  const scanning = store.listRecentHistory(9, undefined, { who: 'nobody' })
  let answered = 0
  const count = () => {
    answered++
  }
  void searching.then(count)
  void scanning.then(count)
  // The worker is blocked, and this thread reads and writes.
  expect(await store.changeStock([change(1n, 4)])).toHaveLength(1)
  // Enough turns for a search or scan on this thread to finish.
  for (let turn = 0; turn < 100; turn++) {
    expect(await store.findPet(1n)).toMatchObject({ name: 'Rex' })
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(answered).toBe(0)
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  expect(await searching).toMatchObject([{ petId: 1n, quantity: 4 }])
  expect(await scanning).toEqual({ rows: [], next: undefined })
  await store.close()
})

test('a request that the worker has not answered when the reader is closed is rejected', async () => {
  const answersOnlyClose = `
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', ({ number, request }) => {
      if (request.type === 'close') parentPort.postMessage({ type: 'result', number })
    })`
  const reader = new Reader(() => new Worker(answersOnlyClose, { eval: true }))
  const pending = reader.rows('SELECT 1').catch((error: Error) => error.message)
  await reader.close()
  expect(await pending).toBe('the store is closed')
})
