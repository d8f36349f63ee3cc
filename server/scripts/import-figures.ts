/**
 * Measures `petstore import pets` while another caller changes the stock of one pet:
 * `bun server/scripts/import-figures.ts sqlite|postgres [pets]`. The pets are imported as new pets, and then again with other quantities.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { createDatabase } from '../test/support/postgres-databases.ts'

const [database = 'sqlite', count = '1000000'] = process.argv.slice(2)
const CLI = join(import.meta.dir, '../src/cli/main.ts')
const OWN_PET = -1n
const origin = () => ({ keyId: 'key_figures', at: Date.now() })

const folder = mkdtempSync(join(tmpdir(), 'petstore-figures-'))
const postgres = database === 'postgres' ? await createDatabase() : undefined
const url = postgres?.url ?? `sqlite:${join(folder, 'figures.db')}`
await (await openStore(url, { tables: 'migrate' })).close()
const store = await openStore(url, { tables: 'require_current_tables', exclusive: true })
await store.changeStock([{ type: 'create_category', category: { id: 0n, name: 'Own' }, ...origin() }])
await store.changeStock([
  { type: 'create_pet', pet: { id: OWN_PET, name: 'Own', categoryId: 0n, status: 'available' }, ...origin() },
])
try {
  await measure('new pets', 5)
  await measure('other quantities', 6)
  await measure('nothing different', 6)
} finally {
  await store.close()
  await postgres?.drop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)

async function measure(name: string, quantity: number): Promise<void> {
  const file = join(folder, 'pets.csv')
  const lines = Array.from(
    { length: Number(count) },
    (_, index) =>
      `${index + 1},Pet number ${index + 1},${(index % 50) + 1},available,${quantity},${4_000_000_000_000 + index},3`,
  )
  await Bun.write(file, `petId,name,categoryId,status,quantity,barcode,lowStockAt\n${lines.join('\n')}\n`)
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, CLI, 'import', 'pets', file, '--database-url', url], {
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const writes = writeUntil(store, child.exited)
  const exitCode = await child.exited
  const seconds = (performance.now() - startedAt) / 1_000
  const { longestPauseMs, refused } = await writes
  const processorSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000
  const memory = (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20
  console.log(
    `${database}, ${name}: exit code ${exitCode}, ${seconds.toFixed(1)} s, ${processorSeconds.toFixed(1)} s of processor time, longest pause of another caller ${(longestPauseMs / 1_000).toFixed(2)} s (${refused} of its changes refused), peak memory ${memory.toFixed(0)} MiB`,
  )
}

/** Changes one pet that the file does not name, again and again. The pause is the time between two changes that were made. */
async function writeUntil(target: Store, end: Promise<unknown>) {
  let isRunning = true
  void end.then(() => {
    isRunning = false
  })
  let longestPauseMs = 0
  let refused = 0
  let lastChangeAt = performance.now()
  for (let quantity = 1; isRunning; quantity++) {
    try {
      await target.changeStock([
        { type: 'adjust', changes: [{ petId: OWN_PET, quantity }], reason: 'counted', ...origin() },
      ])
      longestPauseMs = Math.max(longestPauseMs, performance.now() - lastChangeAt)
      lastChangeAt = performance.now()
    } catch {
      refused++
    }
    await Bun.sleep(10)
  }
  return { longestPauseMs: Math.max(longestPauseMs, performance.now() - lastChangeAt), refused }
}
