import { expect, onTestFinished, test } from 'bun:test'
import type { FloodFigures } from './measured-flood.ts'

const MIB = 1024 * 1024
/** A turn of all connections sends 512 KiB, and each response counts as 4 KiB in addition to its bytes. */
const MAX_RESPONSES_PER_TURN = 128

// `npm run torture -- --only connections` measures how long other connections wait.
test('an endless pipeline neither delays other connections nor grows in memory', async () => {
  const program = Bun.spawn([process.execPath, `${import.meta.dir}/measured-flood.ts`])
  // A listener without bounds never finishes.
  onTestFinished(() => program.kill('SIGKILL'))
  const { connections, mostRequests, mostBytes }: FloodFigures = await new Response(program.stdout).json()
  // Between two turns of the process, the listener may have two, after each of which the next requests are handled.
  expect(mostRequests).toBeLessThanOrEqual(2 * (MAX_RESPONSES_PER_TURN + connections))
  expect(mostBytes).toBeLessThan(100 * MIB)
}, 120_000)
