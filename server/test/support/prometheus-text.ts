export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*/
const TYPES = ['counter', 'gauge', 'histogram']
const SUFFIXES = ['_bucket', '_sum', '_count']

/** Parses Prometheus' text format (0.0.4) as strictly as `promtool check metrics`, or throws. */
export function parsePrometheusText(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, Family>()
  let current: [name: string, family: Family] | undefined
  let help: [name: string, text: string] | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} appears twice`)
      help = [name, rest]
    } else if (keyword === 'TYPE') {
      if (help?.[0] !== name) throw new Error(`the HELP of ${name} is missing`)
      if (NAME.exec(name)?.[0] !== name) throw new Error(`${name} is no name`)
      if (!TYPES.includes(rest)) throw new Error(`${name} has the unknown type ${rest}`)
      if ((rest === 'counter') !== name.endsWith('_total'))
        throw new Error(`${name}: a counter ends in _total`)
      current = [name, { type: rest, help: help[1], samples: [] }]
      families.set(...current)
    } else {
      const sample = parseSample(line)
      if (current === undefined || !belongs(sample.name, ...current)) throw new Error(`stray line: ${line}`)
      current[1].samples.push(sample)
    }
  }
  for (const [name, family] of families) checkFamily(name, family)
  return families
}

function belongs(sample: string, family: string, { type }: Family): boolean {
  return type === 'histogram' ? SUFFIXES.some((suffix) => sample === family + suffix) : sample === family
}

function parseSample(line: string): Sample {
  const name = NAME.exec(line)?.[0]
  if (name === undefined) throw new Error(`no name: ${line}`)
  let rest = line.slice(name.length)
  const labels: Record<string, string> = {}
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    while (!rest.startsWith('}')) {
      const label = LABEL_NAME.exec(rest)?.[0]
      const quoted = /^="((?:[^"\\\n]|\\\\|\\"|\\n)*)",?/.exec(rest.slice(label?.length ?? 0))
      if (label === undefined || quoted === null) throw new Error(`bad label: ${line}`)
      if (label in labels) throw new Error(`the label ${label} is there twice: ${line}`)
      labels[label] = (quoted[1] ?? '').replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
      rest = rest.slice(label.length + quoted[0].length)
    }
    rest = rest.slice(1)
  }
  if (!/^ -?(\d+(\.\d+)?(e[+-]?\d+)?|Inf)$/.test(rest)) throw new Error(`no value: ${line}`)
  return { name, labels, value: Number(rest) }
}

function checkFamily(name: string, { type, samples }: Family): void {
  const seen = new Set<string>()
  for (const { name: sample, labels, value } of samples) {
    const identity = sample + JSON.stringify(Object.entries(labels).sort())
    if (seen.has(identity)) throw new Error(`${identity} is there twice`)
    seen.add(identity)
    if (type !== 'gauge' && value < 0) throw new Error(`${identity} is negative`)
  }
  if (type === 'histogram') checkHistograms(name, samples)
}

/** Bucket counts never decrease as bounds grow; the last is +Inf and equals the count. */
function checkHistograms(name: string, samples: readonly Sample[]): void {
  const series = Map.groupBy(samples, ({ labels: { le, ...labels } }) => JSON.stringify(labels))
  for (const [labels, parts] of series) {
    const buckets = parts.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map((sample) => Number(sample.labels.le?.replace('+Inf', 'Infinity')))
    const ascends = (values: readonly number[], least: number) =>
      values.every((value, index) => index === 0 || value - (values[index - 1] as number) >= least)
    if (!ascends(bounds, Number.MIN_VALUE) || bounds.at(-1) !== Number.POSITIVE_INFINITY) {
      throw new Error(`${name}${labels}: bounds ${bounds}`)
    }
    const counts = buckets.map(({ value }) => value)
    if (!ascends(counts, 0)) throw new Error(`${name}${labels}: counts ${counts}`)
    const count = parts.filter((sample) => sample.name === `${name}_count`)
    const sum = parts.filter((sample) => sample.name === `${name}_sum`)
    if (count.length !== 1 || sum.length !== 1) throw new Error(`${name}${labels}: no sum or count`)
    if (count[0]?.value !== counts.at(-1)) throw new Error(`${name}${labels}: +Inf is not the count`)
  }
}
