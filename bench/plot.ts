import { count } from './format.ts'
import type { BenchResults, CaseResult, TargetResult } from './results.ts'
import { SECTIONS } from './sections.ts'

const WIDTH = 900
const LEFT = 220
const RIGHT = 90
const BAR = 14
const GAP = 4
const HEADING = 34
const SECTION_HEADING = 40
const TOP = 60

/** Colours for a light page and for a dark one; the page that shows the picture decides. */
const STYLE = `
  text { font: 12px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #333 }
  .title { font-size: 16px; font-weight: 600 }
  .section { font-size: 14px; font-weight: 600 }
  .heading { font-weight: 600 }
  .faint { fill: #777; font-size: 11px }
  .grid { stroke: #0002 }
  .spread { stroke: #0009; stroke-width: 1.5 }
  .ours { fill: #d9480f }
  .peer { fill: #74a3d4 }
  .ceiling { fill: #b9b9b9 }
  .name-of-ours { font-weight: 700; fill: #d9480f }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .faint { fill: #999 }
    .grid { stroke: #fff2 }
    .spread { stroke: #fffb }
    .ours { fill: #ff7a3d }
    .peer { fill: #4d82ba }
    .ceiling { fill: #6b6b6b }
    .name-of-ours { fill: #ff7a3d }
  }`

/** Horizontal bars on a logarithmic scale, section by section and case by case, the fastest first, ours highlighted. */
export function toSvg({ cases, mode }: BenchResults): string {
  const rates = cases.flatMap(({ results }) => results.map(({ requestsPerSecond }) => requestsPerSecond.max))
  const lowest = Math.min(...cases.flatMap(({ results }) => results.map((r) => r.requestsPerSecond.median)))
  const scale = logScale(lowest, Math.max(...rates))
  const parts: string[] = []
  let y = TOP
  for (const { section, title } of SECTIONS) {
    const ofSection = cases.filter((result) => result.section === section)
    if (ofSection.length === 0) continue
    parts.push(`<text class="section" x="16" y="${y + SECTION_HEADING - 14}">${escapeXml(title)}</text>`)
    y += SECTION_HEADING
    for (const result of ofSection) {
      parts.push(...casePart(result, y, scale))
      y += HEADING + result.results.length * (BAR + GAP)
    }
  }
  const height = y + 30
  const title = `Requests a second, logarithmic scale${mode === 'quick' ? ' (quick run: no proof)' : ''}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="16" y="26">${title}</text>`,
    legend(),
    ...scale.ticks.map((tick) => gridLine(tick, scale, height)),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

interface Scale {
  readonly ticks: readonly number[]
  at(value: number): number
}

function logScale(lowest: number, highest: number): Scale {
  const from = Math.floor(Math.log10(Math.max(lowest, 0.1)))
  const to = Math.max(from + 1, Math.log10(highest))
  const width = WIDTH - LEFT - RIGHT
  return {
    ticks: Array.from({ length: Math.floor(to - from) + 1 }, (_, step) => 10 ** (from + step)),
    at: (value) => LEFT + Math.max(0, ((Math.log10(value) - from) / (to - from)) * width),
  }
}

function gridLine(tick: number, scale: Scale, height: number): string {
  const x = round(scale.at(tick))
  return (
    `<line class="grid" x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height - 24}"/>` +
    `<text class="faint" x="${x}" y="${height - 10}" text-anchor="middle">${tick.toLocaleString('en-US')}</text>`
  )
}

function legend(): string {
  const entries = [
    ['ours', 'ours'],
    ['peer', 'peers'],
    ['ceiling', 'ceilings: no checks, no updates'],
  ] as const
  return entries
    .map(([kind, text], index) => {
      const x = 16 + index * 80
      return `<rect class="${kind}" x="${x}" y="36" width="10" height="10"/><text class="faint" x="${x + 15}" y="45">${text}</text>`
    })
    .join('')
}

function casePart({ title, results }: CaseResult, top: number, scale: Scale): string[] {
  const sorted = results.toSorted((a, b) => b.requestsPerSecond.median - a.requestsPerSecond.median)
  return [
    `<text class="heading" x="16" y="${top + HEADING - 10}">${escapeXml(title)}</text>`,
    ...sorted.map((result, index) => bar(result, top + HEADING + index * (BAR + GAP), scale)),
  ]
}

function bar({ label, kind, requestsPerSecond }: TargetResult, y: number, scale: Scale): string {
  const { median, min, max } = requestsPerSecond
  const [end, low, high] = [scale.at(median), scale.at(min), scale.at(max)].map(round)
  const middle = y + BAR / 2
  const textY = y + BAR - 3
  return [
    `<text x="${LEFT - 8}" y="${textY}" text-anchor="end"${kind === 'ours' ? ' class="name-of-ours"' : ''}>${escapeXml(label)}</text>`,
    `<rect class="${kind}" x="${LEFT}" y="${y}" width="${round((end ?? LEFT) - LEFT)}" height="${BAR}" rx="2"/>`,
    `<line class="spread" x1="${low}" x2="${high}" y1="${middle}" y2="${middle}"/>`,
    `<text class="faint" x="${(high ?? LEFT) + 6}" y="${textY}">${count(median)}</text>`,
  ].join('')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
