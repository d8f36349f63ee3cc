/// <reference lib="dom" />
/** What Chromium runs in the page. Each function stands alone, since it is sent there as text. */

export interface Arrival {
  /** From the press of the button until rows are painted. */
  readonly rowsMs: number
  /** Until the last row of all has its name as well: names come page by page, by petId. */
  readonly namesMs: number
}

/** Begins to wait for somebody to sign in. */
export function arrivalAfterSignIn(pets: number): Promise<Arrival> {
  const painted = () =>
    new Promise<number>((resolve) =>
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))),
    )
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const isNamed = () => document.querySelector(`#pet-${pets} a`) !== null
  return new Promise((resolve) => {
    const watch = async ({ timeStamp }: Event) => {
      while (document.querySelector('[role=gridcell]') === null) await frame()
      const rowsMs = (await painted()) - timeStamp
      const grid = document.querySelector('[role=grid]')
      grid?.scrollTo(0, grid.scrollHeight)
      while (!isNamed()) await frame()
      const namesMs = (await painted()) - timeStamp
      grid?.scrollTo(0, 0)
      resolve({ rowsMs, namesMs })
    }
    document.addEventListener('submit', (event) => void watch(event), { capture: true, once: true })
  })
}

/** Begins to wait for a keystroke in the search; resolves when its rows, another number than before, are painted. */
export function resultAfterInput(rows: number): Promise<number> {
  const shown = () => Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount') ?? '1') - 1
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  return new Promise((resolve) => {
    const watch = async ({ timeStamp }: Event) => {
      while (shown() !== rows) await frame()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp)))
    }
    document.addEventListener('input', (event) => void watch(event), { capture: true, once: true })
  })
}

export interface Scrolling {
  readonly frames: number
  readonly medianFrameMs: number
  readonly longestFrameMs: number
  /** 0 where no task took the 50 ms from which the browser calls it long. */
  readonly longestTaskMs: number
  readonly mostElements: number
}

/** From the first row to the last in so many frames, each of which shows other rows than the one before. */
export async function scrollThrough(frames: number): Promise<Scrolling> {
  const grid = document.querySelector('[role=grid]')
  if (grid === null) throw new Error('the page shows no table')
  const tasks: number[] = []
  const observer = new PerformanceObserver((list) => {
    tasks.push(...list.getEntries().map(({ duration }) => duration))
  })
  observer.observe({ type: 'longtask' })
  const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
  const durations: number[] = []
  let mostElements = 0
  let before = await frame()
  for (let count = 1; count <= frames; count++) {
    grid.scrollTop = ((grid.scrollHeight - grid.clientHeight) * count) / frames
    const now = await frame()
    durations.push(now - before)
    before = now
    mostElements = Math.max(mostElements, document.getElementsByTagName('*').length)
  }
  await frame()
  observer.disconnect()
  durations.sort((a, b) => a - b)
  return {
    frames,
    medianFrameMs: durations[Math.floor(durations.length / 2)] ?? Number.NaN,
    longestFrameMs: durations.at(-1) ?? Number.NaN,
    longestTaskMs: Math.max(0, ...tasks),
    mostElements,
  }
}
