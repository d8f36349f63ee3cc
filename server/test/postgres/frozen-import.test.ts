import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import { startPetstore } from '../cli/petstore.ts'
import { change } from '../store/plain-rows.ts'
import { createReadyDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { stockOf } from '../support/whole-store.ts'
import { PET_IDS, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

test.each([
  ['import', ['import', 'pets', '-'], 'petId,name,categoryId,status,quantity', ',Pet,1,available,7'],
  ['adjustment', ['import', 'count', '-'], 'petId,quantity', ',7'],
] as const)(
  'an %s that is suspended while it holds locks releases them, and changes nothing',
  async (_, args, head, rest) => {
    const database = await createReadyDatabase()
    await stockUp(database.url)
    const store = await openStore(database.url, { tables: 'require_current_tables' })
    const [other] = await Promise.all([database.connect()])
    // Pets are locked in id order: it holds the others when it waits for the last one.
    await other.unsafe(`BEGIN; SELECT 1 FROM stock WHERE pet_id = ${PET_IDS.at(-1)} FOR UPDATE`)
    const importing = startPetstore([...args], {
      env: { DATABASE_URL: database.url },
      stdin: [head, ...PET_IDS.map((petId) => `${petId}${rest}`)].join('\n'),
    })
    const errors = new Response(importing.stderr).text()
    await until(async () => {
      const [row] = await database.run('SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted')
      return row?.waiting === 1
    })
    importing.kill('SIGSTOP')
    await other.unsafe('COMMIT')
    await other.close()
    await store.changeStock([change(1n, 3)])
    importing.kill('SIGCONT')
    expect([await importing.exited, await errors]).toEqual([
      1,
      expect.stringContaining('nothing was changed'),
    ])
    expect((await stockOf(store)).map(({ quantity }) => quantity)).toEqual([3, 0, 0, 0, 0])
    await store.close()
    await database.drop()
  },
)
