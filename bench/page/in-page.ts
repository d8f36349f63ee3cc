/// <reference lib="dom" />
/** Functions that run in the page. Each stands alone, because it is sent there as text. */

/** Starts to record long tasks. The browser calls a task long from 50 ms on. */
export function recordLongTasks(): void {
  const tasks: number[] = []
  Object.assign(window, { longTasks: tasks })
  new PerformanceObserver((list) => {
    tasks.push(...list.getEntries().map(({ duration }) => duration))
  }).observe({ type: 'longtask', buffered: true })
}

/** The longest task since the page was opened; 0 if none was long. */
export function longestTask(): number {
  const { longTasks } = window as unknown as { readonly longTasks: readonly number[] }
  return Math.max(0, ...longTasks)
}

export interface Expectation {
  /** The event that starts the clock. */
  readonly event: 'submit' | 'input' | 'click'
  /** The first row has a cell with this text, and no search is pending. */
  readonly firstRow: string
}

/** Waits for the event; resolves with the time until the expected rows are painted. */
export function paintedAfter({ event, firstRow }: Expectation): Promise<number> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const isShown = () => {
    const row = document.querySelector('.stock-row[aria-rowindex="2"]')
    const status = document.querySelector('.stock-view__line [role=status]')?.textContent ?? 'Loading'
    const cells = [...(row?.querySelectorAll('[role=gridcell]') ?? [])]
    return !/^(Loading$|Searching)/.test(status) && cells.some((cell) => cell.textContent === firstRow)
  }
  return new Promise((resolve) => {
    const watch = async ({ timeStamp }: Event) => {
      while (!isShown()) await frame()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp)))
    }
    document.addEventListener(event, (happened) => void watch(happened), { capture: true, once: true })
  })
}

/** Scrolls to the end of the loaded rows again and again, so that further pages are loaded. */
export async function scrollOn(pages: number): Promise<number> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const grid = document.querySelector('[role=grid]')
  if (grid === null) throw new Error('the page shows no table')
  let mostElements = 0
  for (let page = 0; page < pages; page++) {
    const { scrollHeight } = grid
    // The row count is unknown, -1, until the last page is loaded.
    while (grid.scrollHeight === scrollHeight && grid.getAttribute('aria-rowcount') === '-1') {
      grid.scrollTop = scrollHeight
      await frame()
      mostElements = Math.max(mostElements, document.getElementsByTagName('*').length)
    }
  }
  return mostElements
}
