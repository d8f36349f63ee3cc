/** The staff page with 100,000 pets, or `--pets`, in real Chromium: how soon, how quick, how much memory. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { CHROMIUM_FLAGS, chromiumPath } from '../client/test/support/chromium.ts'
import { createDataset } from './dataset.ts'
import type { Goal } from './goals.ts'
import { measurePage, type PageMeasures } from './page/measure-page.ts'
import { inRunFolder } from './run-folder.ts'
import { ours } from './targets/ours.ts'

/** What the goals are for; with another number the figures are told, and nothing is asked of them. */
const USUAL_PETS = 100_000
const { values: options } = parseArgs({ options: { pets: { type: 'string', default: String(USUAL_PETS) } } })
const PETS = Number(options.pets)
if (!Number.isSafeInteger(PETS) || PETS < 1)
  throw new Error(`--pets takes a whole number, got ${options.pets}`)

const FIRST_ROWS_MS = 1_000
const SEARCH_MS = 100
const LONGEST_TASK_MS = 100
const HEAP_MB = 60
/** More than is in use right after the load: scrolling and changes by others may not pile anything up. */
const HEAP_GROWTH_MB = 10

await inRunFolder(async (folder) => {
  const goals = goalsOf(await measure(folder))
  console.log(table(goals))
  return goals.every(({ met }) => met)
})

async function measure(folder: string): Promise<PageMeasures> {
  const tell = (what: string) => console.error(what)
  tell(`import and start with ${inWords(PETS)} pets`)
  const store = await ours.start(createDataset(PETS, join(folder, 'page')))
  const browser = await chromium.launch({ executablePath: await chromiumPath(), args: CHROMIUM_FLAGS })
  try {
    return await measurePage({ browser, store, pets: PETS, tell })
  } finally {
    await browser.close()
    await store.stop()
  }
}

function goalsOf(measures: PageMeasures): readonly Goal[] {
  const { arrivals, keystrokes, scrolling, heapMb, changes, lastRowMs } = measures
  const slowest = keystrokes.reduce((worst, each) => (each.ms > worst.ms ? each : worst))
  const most = heapMb.loaded + HEAP_GROWTH_MB
  return [
    goal(
      `sign-in to first rows, worst of ${arrivals.length}`,
      Math.max(...arrivals.map(({ rowsMs }) => rowsMs)),
      { most: FIRST_ROWS_MS, unit: 'ms' },
    ),
    goal('sign-in to all names', Math.max(...arrivals.map(({ namesMs }) => namesMs)), { unit: 'ms' }),
    goal(
      `keystroke to painted result, worst of ${keystrokes.length} ("${slowest.query}", ${inWords(slowest.rows)} found)`,
      slowest.ms,
      { most: SEARCH_MS, unit: 'ms' },
    ),
    goal('scrolling through all: longest task', scrolling.longestTaskMs, {
      most: LONGEST_TASK_MS,
      unit: 'ms',
    }),
    goal('scrolling through all: median frame', scrolling.medianFrameMs, { unit: 'ms' }),
    goal('scrolling through all: longest frame', scrolling.longestFrameMs, { unit: 'ms' }),
    goal('elements in the page at most', scrolling.mostElements, { unit: '' }),
    goal('the last row gone to, edited and saved', lastRowMs, { unit: 'ms' }),
    goal('JS heap after the load', heapMb.loaded, { most: HEAP_MB, unit: 'MB' }),
    goal('JS heap after scrolling through all', heapMb.scrolled, { most, unit: 'MB' }),
    goal(`JS heap after ${inWords(changes)} live changes`, heapMb.changed, { most, unit: 'MB' }),
  ]
}

/** Without `most` it is told, and nothing is asked of it. */
function goal(what: string, got: number, { most, unit }: { most?: number; unit: string }): Goal {
  const shown = (value: number) =>
    `${value < 10 ? value.toFixed(1) : inWords(Math.round(value))} ${unit}`.trim()
  return {
    what,
    wanted: most === undefined || PETS !== USUAL_PETS ? '' : `at most ${shown(most)}`,
    got: shown(got),
    met: most === undefined || PETS !== USUAL_PETS || got <= most,
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
