import type { Spread } from './results.ts'

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

export function withSpread({ median, min, max }: Spread, format: (value: number) => string): string {
  return min === max ? format(median) : `${format(median)} (${format(min)} to ${format(max)})`
}

export function count(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')
}

export function milliseconds(value: number): string {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : count(value)
}

export function times(ratio: number | undefined): string {
  return ratio === undefined ? '-' : `${ratio < 10 ? ratio.toFixed(2) : Math.round(ratio)}x`
}
