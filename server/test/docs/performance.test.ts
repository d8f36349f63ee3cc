import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..', '..')

/** The cells of the table rows of a section, without head and rule. */
function rowsOf(path: string, section: string): string[][] {
  const text = readFileSync(join(ROOT, path), 'utf8').split(`# ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = [...text.matchAll(/^\| (.+) \|$/gm)].map(([, cells = '']) => cells.split(' | '))
  return rows.slice(2)
}

const figures = rowsOf('docs/performance.md', 'Performance')

test('the Performance table of the README repeats figures of docs/performance.md', () => {
  const known = figures.map(([title, ours = '', , ratio]) => [title, ours.split(' ')[0], ratio])
  const repeated = rowsOf('README.md', 'Performance')
  expect(repeated.length).toBeGreaterThan(0)
  for (const row of repeated) expect(known).toContainEqual(row)
})

test('docs/performance.md says why each missed goal is missed', () => {
  const missed = figures.filter(([, , , , goal]) => goal?.endsWith('missed')).map(([title]) => title)
  expect(rowsOf('docs/performance.md', 'Missed goals').map(([title]) => title)).toEqual(missed)
})
