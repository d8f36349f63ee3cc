import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchResults } from '../../../bench/results.ts'
import { casesTable, instancesTable, missedGoals, readmeTable } from '../../../bench/tables.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

const results: BenchResults = JSON.parse(read('bench/results/results.json'))

// `npm run bench -- --tables` prints the tables.
test('the Performance table of the README has the figures of the last full benchmark', () => {
  expect(read('README.md')).toContain(`\n\n${readmeTable(results)}\n\n`)
})

test('the tables of docs/performance.md have the figures of the last full benchmark', () => {
  const page = read('docs/performance.md')
  expect(page).toContain(`\n\n${casesTable(results)}\n\n`)
  expect(page).toContain(`\n\n${instancesTable(results)}\n\n`)
})

test('docs/performance.md names every goal that the last full benchmark missed', () => {
  const [, section = ''] = read('docs/performance.md').split('## Goals that are missed')
  const rows = [...section.matchAll(/^(\| .+ \| at .+ \| .+ \|) .+ \|$/gm)]
  expect(rows.map((match) => match[1])).toEqual(missedGoals(results))
})
