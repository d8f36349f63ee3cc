import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { pet } from '../../store/plain-rows.ts'
import { historyOf, stockOf } from '../../support/whole-store.ts'

const PETS = 300
const KILLS = 10
/** Each process makes at least this many before it is killed. */
const MIN_CHANGES = 30
const LONGEST_MS = 100
/** The range of quantities of one process. */
const ROUND = 1_000_000

test('a process killed while it writes has lost nothing that it acknowledged, and stock and log agree', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-killed-'))
  const path = join(folder, 'petstore.db')
  const first = openSqliteStore(path)
  await first.addPets(Array.from({ length: PETS }, (_, index) => pet(BigInt(index), 0)))
  await first.close()
  const acknowledged = new Map<bigint, number>()
  let changes = 0
  for (let kill = 1; kill <= KILLS; kill++) {
    for (const [petId, quantity] of await writeUntilKilled(path, kill * ROUND)) {
      acknowledged.set(petId, quantity)
      changes++
    }
    const store = openSqliteStore(path)
    const wrong: string[] = []
    for (const { petId, quantity } of await stockOf(store)) {
      const history = await historyOf(store, petId)
      // Unacknowledged changes may have been made.
      if (quantity < (acknowledged.get(petId) ?? 0)) wrong.push(`pet ${petId} has lost a change`)
      if (quantity !== (history.at(-1)?.after ?? 0)) wrong.push(`pet ${petId} is not as in its history`)
      if (history.some(({ before }, index) => before !== (history[index - 1]?.after ?? 0)))
        wrong.push(`the history of pet ${petId} has a gap`)
    }
    expect([...wrong, ...(await store.findDamage())]).toEqual([])
    await store.close()
  }
  expect(changes).toBeGreaterThanOrEqual(KILLS * MIN_CHANGES)
  rmSync(folder, { recursive: true })
}, 120_000)

async function writeUntilKilled(path: string, quantity: number): Promise<[bigint, number][]> {
  const writer = join(import.meta.dir, 'killed-writer.ts')
  const child = Bun.spawn([process.execPath, writer, path, String(PETS), String(quantity)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const decoder = new TextDecoder()
  let text = ''
  let isDue = false
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    // At any moment from then on, however long the start took.
    if (isDue || text.split('\n').length <= MIN_CHANGES) continue
    isDue = true
    setTimeout(() => child.kill('SIGKILL'), Math.random() * LONGEST_MS)
  }
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    const [petId = '', value = ''] = line.split(' ')
    return [BigInt(petId), Number(value)]
  })
}
