import { randomFrom } from '../../../scripts/torture-task.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { change } from '../../store/plain-rows.ts'

/** Changes the stock without end, and prints each acknowledged change. */
const [path = '', pets = '', first = ''] = process.argv.slice(2)
const random = randomFrom(Number(first))
// Opened like the service does, with many checkpoints.
const store = openSqliteStore(path, { exclusive: true, maxLogBytes: 200_000 })
await store.loadStock(() => {})
for (let quantity = Number(first); ; quantity++) {
  const petIds = Array.from({ length: 5 }, () => BigInt(Math.floor(random() * Number(pets))))
  await store.changeStock(petIds.map((petId) => change(petId, quantity)))
  process.stdout.write(petIds.map((petId) => `${petId} ${quantity}\n`).join(''))
}
