import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import { addPets } from '../support/add-pets.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { runCommand } from './run-command.ts'

const PETS = new Map([
  [1n, 4],
  [2n, 1],
  [3n, 0],
  [9223372036854775807n, Number.MAX_SAFE_INTEGER],
])
/** The quantities of its pets 1, 2, 3 and 9223372036854775807. */
export const BEFORE = [...PETS.values()]

/** A temporary folder and database with a few pets, and the real command line on them. */
export async function openShop() {
  const cwd = mkdtempSync(join(tmpdir(), 'petstore-shop-'))
  const url = `sqlite:${join(cwd, 'petstore.db')}`
  const store = await openStore(url, { tables: 'migrate' })
  await addPets(
    store,
    [...PETS].map(([id, quantity]) => ({
      id,
      name: `Pet ${id}`,
      categoryId: 1n,
      status: 'available',
      quantity,
    })),
  )
  const env = { DATABASE_URL: url }
  return {
    cwd,
    store,
    run: (...args: string[]) => runCommand(args, { cwd, env }),
    file: (text: string, name = 'delivery.csv') => {
      writeFileSync(join(cwd, name), text)
      return name
    },
    quantities: async () => (await stockOf(store)).map(({ quantity }) => quantity),
    historyOf: (petId: bigint) => historyOf(store, petId),
    close: async () => {
      await store.close()
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>
