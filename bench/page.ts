/** The staff page with 1,000,000 pets, or `--pets`, in real Chromium: how soon, how quick, how much memory. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { CHROMIUM_FLAGS, chromiumPath } from '../client/test/support/chromium.ts'
import { createDataset } from './dataset.ts'
import type { Goal } from './goals.ts'
import { measurePage, type PageMeasures } from './page/measure-page.ts'
import { inRunFolder } from './run-folder.ts'
import { ours } from './targets/ours.ts'

const DEFAULT_PETS = 1_000_000
const { values: options } = parseArgs({
  options: { pets: { type: 'string', default: String(DEFAULT_PETS) } },
})
const PETS = Number(options.pets)
if (!Number.isSafeInteger(PETS) || PETS < 1)
  throw new Error(`--pets takes a whole number, got ${options.pets}`)

const FIRST_ROWS_MS = 1_000
const LONGEST_TASK_MS = 100
const HEAP_MB = 200

await inRunFolder(async (folder) => {
  const goals = goalsOf(await measure(folder))
  console.log(table(goals))
  return goals.every(({ met }) => met)
})

async function measure(folder: string): Promise<PageMeasures> {
  const log = (what: string) => console.error(what)
  log(`import and start with ${inWords(PETS)} pets`)
  const store = await ours.start(createDataset(PETS, join(folder, 'page')))
  const browser = await chromium.launch({ executablePath: await chromiumPath(), args: CHROMIUM_FLAGS })
  try {
    return await measurePage({ browser, store, pets: PETS, log })
  } finally {
    await browser.close()
    await store.stop()
  }
}

function goalsOf(measures: PageMeasures): readonly Goal[] {
  const { firstRowsMs, searchMs, sortMs, filterMs, longestTaskMs, mostElements, heapMb, changes } = measures
  return [
    goal(`sign-in to first rows, worst of ${firstRowsMs.length}`, Math.max(...firstRowsMs), {
      most: FIRST_ROWS_MS,
      unit: 'ms',
    }),
    goal('a search, from the keystroke to painted rows', searchMs, { unit: 'ms' }),
    goal('a sort, from the click to painted rows', sortMs, { unit: 'ms' }),
    goal('a filter, from the click to painted rows', filterMs, { unit: 'ms' }),
    goal('longest task of the whole session', longestTaskMs, { most: LONGEST_TASK_MS, unit: 'ms' }),
    goal('elements in the page at most', mostElements, { unit: '' }),
    goal('JS heap after the load', heapMb.loaded, { most: HEAP_MB, unit: 'MB' }),
    goal(`JS heap after scrolling and ${inWords(changes)} live changes`, heapMb.atEnd, {
      most: HEAP_MB,
      unit: 'MB',
    }),
  ]
}

/** Without `most` the figure is only reported. */
function goal(what: string, got: number, { most, unit }: { most?: number; unit: string }): Goal {
  const shown = (value: number) =>
    `${value < 10 ? value.toFixed(1) : inWords(Math.round(value))} ${unit}`.trim()
  return {
    what,
    wanted: most === undefined ? '' : `at most ${shown(most)}`,
    got: shown(got),
    met: most === undefined || got <= most,
  }
}

function table(goals: readonly Goal[]): string {
  const rows = [
    { what: `The staff page with ${inWords(PETS)} pets`, got: 'got', wanted: 'wanted', met: true },
    ...goals,
  ]
  const width = (of: 'what' | 'got') => Math.max(...rows.map((row) => row[of].length))
  return rows
    .map(({ what, got, wanted, met }) =>
      `${what.padEnd(width('what'))}  ${got.padStart(width('got'))}  ${wanted}${met ? '' : '  NOT MET'}`.trimEnd(),
    )
    .join('\n')
}

function inWords(count: number): string {
  return count.toLocaleString('en-US')
}
