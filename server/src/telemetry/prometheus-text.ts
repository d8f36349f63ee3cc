/** Counts observations in buckets by size. Prometheus expects cumulative counts, which are computed when they are written. */
export class Histogram {
  /** The upper bounds of the buckets, ascending. A last bucket, +Inf, counts larger values. */
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    // Most observations are small, so a linear search is faster than a binary search.
    for (const bound of this.bounds) {
      if (value <= bound) break
      bucket++
    }
    increment(this.counts, bucket)
    this.sum += value
  }
}

export function increment(counts: Float64Array, index: number): void {
  const before = counts[index]
  if (before === undefined) throw new RangeError(`count ${index} does not exist; there are ${counts.length}`)
  counts[index] = before + 1
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

/** Names the version of Prometheus' text format that this file writes. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A metric with its series, in Prometheus' text format. */
export function metricFamily(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  samples: readonly Sample[],
): string {
  const lines = samples.map(([labels, value]) => sampleLine(name, labels, value))
  return heading(name, type, help) + lines.join('')
}

/** A gauge without labels. It has no sample if its value is `undefined`. */
export function gauge(name: string, help: string, value: number | undefined): string {
  return metricFamily(name, 'gauge', help, value === undefined ? [] : [[{}, value]])
}

export function histogramFamily(
  name: string,
  help: string,
  series: readonly (readonly [labels: Labels, histogram: Histogram])[],
): string {
  return (
    heading(name, 'histogram', help) +
    series.map(([labels, histogram]) => histogramLines(name, labels, histogram)).join('')
  )
}

function histogramLines(name: string, labels: Labels, { bounds, counts, sum }: Histogram): string {
  let text = ''
  let total = 0
  for (const [index, count] of counts.entries()) {
    total += count
    const le = index < bounds.length ? String(bounds[index]) : '+Inf'
    text += sampleLine(`${name}_bucket`, { ...labels, le }, total)
  }
  return text + sampleLine(`${name}_sum`, labels, sum) + sampleLine(`${name}_count`, labels, total)
}

function heading(name: string, type: string, help: string): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`
}

function sampleLine(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  const labelText = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  return `${name}${labelText} ${value}\n`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
