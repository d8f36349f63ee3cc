import { count, type LongRunResults, type Slice, titleOf, warmUpSeconds } from './results.ts'

const WIDTH = 900
const LEFT = 70
const RIGHT = 20
const PANEL = 170
const GAP = 50
const TOP = 50

/** Colours for light and dark mode; the page that shows the picture decides. */
const STYLE = `
  text { font: 12px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #333 }
  .title { font-size: 16px; font-weight: 600 }
  .heading { font-weight: 600 }
  .faint { fill: #777; font-size: 11px }
  .grid { stroke: #0002 }
  .warm { fill: #0000000c }
  .steady { fill: none; stroke: #74a3d4; stroke-width: 2 }
  .flat-out { fill: none; stroke: #d9480f; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .faint { fill: #999 }
    .grid { stroke: #fff2 }
    .warm { fill: #ffffff12 }
    .steady { stroke: #4d82ba }
    .flat-out { stroke: #ff7a3d }
  }`

interface Panel {
  readonly heading: string
  readonly top: number
  readonly most: number
  readonly shown: (value: number) => string
  readonly lines: readonly {
    readonly kind: string
    readonly points: readonly (readonly [number, number])[]
  }[]
}

/** Throughput and memory over time, from zero: a leak is a rising line, not one that looks steep. */
export function toSvg(results: LongRunResults): string {
  const { slices } = results
  const title = titleOf(results)
  const rate = (pace: Slice['pace']) =>
    slices
      .filter((slice) => slice.pace === pace)
      .map(({ atSeconds, requestsPerSecond }) => [atSeconds, requestsPerSecond] as const)
  const memory = slices.map(({ atSeconds, residentBytes }) => [atSeconds, residentBytes / 1_000_000] as const)
  const panels: Panel[] = [
    {
      heading: 'requests a second: as fast as it can (upper line), at a fixed rate (lower line)',
      top: TOP,
      most: Math.max(...slices.map(({ requestsPerSecond }) => requestsPerSecond)),
      shown: count,
      lines: [
        { kind: 'flat-out', points: rate('flat-out') },
        { kind: 'steady', points: rate('steady') },
      ],
    },
    {
      heading: 'resident memory of the service, MB',
      top: TOP + PANEL + GAP,
      most: Math.max(...memory.map(([, value]) => value)),
      shown: count,
      lines: [{ kind: 'steady', points: memory }],
    },
  ]
  const height = TOP + 2 * (PANEL + GAP) + 10
  const end = slices.at(-1)?.atSeconds ?? 1
  const warm = Math.min(end, warmUpSeconds(results))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="16" y="26">${title}</text>`,
    ...panels.flatMap((panel) => panelParts(panel, end, warm)),
    '</svg>',
    '',
  ].join('\n')
}

function panelParts({ heading, top, most, shown, lines }: Panel, end: number, warm: number): string[] {
  const bottom = top + PANEL
  const x = (seconds: number) => round(LEFT + (seconds / end) * (WIDTH - LEFT - RIGHT))
  const y = (value: number) => round(bottom - (value / (most * 1.1)) * (PANEL - 24))
  const step = tickStep(most)
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step)
  const minutes = Array.from({ length: Math.floor(end / 60) + 1 }, (_, index) => index)
  const everyMinutes = Math.max(1, Math.ceil(minutes.length / 20))
  return [
    `<text class="heading" x="${LEFT}" y="${top + 10}">${heading}</text>`,
    `<rect class="warm" x="${LEFT}" y="${top + 18}" width="${round(x(warm) - LEFT)}" height="${PANEL - 18}"/>`,
    `<text class="faint" x="${LEFT + 4}" y="${top + 30}">warm-up</text>`,
    ...ticks.map(
      (tick) =>
        `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}"/>` +
        `<text class="faint" x="${LEFT - 6}" y="${y(tick) + 4}" text-anchor="end">${shown(tick)}</text>`,
    ),
    ...minutes
      .filter((minute) => minute % everyMinutes === 0)
      .map(
        (minute) =>
          `<text class="faint" x="${x(minute * 60)}" y="${bottom + 16}" text-anchor="middle">${minute} min</text>`,
      ),
    ...lines.map(({ kind, points }) => {
      const path = points.map(([seconds, value]) => `${x(seconds)},${y(value)}`).join(' ')
      return `<polyline class="${kind}" points="${path}"/>`
    }),
  ]
}

/** 1, 2 or 5 times a power of ten, so that there are three to seven lines. */
function tickStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)))
  return [0.2, 0.5, 1, 2].map((part) => part * power).find((step) => most / step <= 7) ?? power
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
