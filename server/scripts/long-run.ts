/**
 * Runs a mixed load for a long time, and compares speed and memory at the end with those at the beginning:
 * `npm run long-run -- [--minutes 20] [--postgres] [--seed 1]`.
 *
 * A run of 20 minutes or more writes its report to docs/reliability/. A shorter run, which proves little, writes to
 * data/long-run/. The exit code is 1 if the service became more than 10 % slower or larger, or leaked file descriptors.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runLong } from '../test/faults/long-run/long-run.ts'
import { toSvg } from '../test/faults/long-run/plot.ts'
import { toMarkdown } from '../test/faults/long-run/report.ts'
import { checksOf } from '../test/faults/long-run/results.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MIN_MINUTES_FOR_DOCS = 20
const MIN_MINUTES = 1

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    postgres: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
if (!(minutes >= MIN_MINUTES) || !Number.isInteger(seed)) {
  console.error(`long-run: --minutes must be ${MIN_MINUTES} or more, and --seed a whole number`)
  process.exit(2)
}

const results = await runLong({
  minutes,
  seed,
  onPostgres: values.postgres,
  say: (progress) => console.log(`${new Date().toISOString().slice(11, 19)} ${progress}`),
})
const folder = join(ROOT, minutes >= MIN_MINUTES_FOR_DOCS ? 'docs/reliability' : 'data/long-run')
const name = values.postgres ? 'long-run-postgres' : 'long-run'
const command = `npm run long-run -- --minutes ${minutes}${values.postgres ? ' --postgres' : ''} --seed ${seed}`
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, `${name}.md`), toMarkdown(results, name, command))
writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`)
writeFileSync(join(folder, `${name}.svg`), toSvg(results))

const checks = checksOf(results)
for (const { what, atBeginning, atEnd, wanted, isMet } of checks) {
  console.log(`${isMet ? 'ok ' : 'NOT'} ${what}: ${atBeginning}, at the end ${atEnd}; wanted: ${wanted}`)
}
for (const [what, times] of Object.entries(results.surprises)) console.log(`${times} times: ${what}`)
console.log(`wrote ${join(folder, name)}.md, .json and .svg`)
process.exit(checks.every(({ isMet }) => isMet) ? 0 : 1)
