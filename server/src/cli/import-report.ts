import { quoted, type RefusedLine, type RowKind } from '../core/transfer/exchange-rows.ts'
import type { ImportCounts, ImportPreview, Tally } from '../core/transfer/staged-import.ts'
import { counted, grouped } from './output.ts'

/** The refused lines that are told, each with its reason. */
export function refusedLines(refused: Tally<RefusedLine>): string[] {
  return listed(refused, ({ line, reason }) => [line, reason])
}

export function summary(counts: ImportCounts, refused: number, noun: string, seconds: number): string {
  const { added, changed, unchanged } = counts
  const rate = seconds > 0 ? Math.round((added + changed + unchanged + refused) / seconds) : 0
  const skipped = refused > 0 ? `, ${counted(refused, 'bad line')} skipped` : ''
  return `${counted(added, noun)} added, ${grouped(changed)} changed, ${grouped(unchanged)} left alone${skipped} (${seconds.toFixed(1)} s, ${grouped(rate)} rows/s)`
}

/** What an import would do, line by line as far as asked for. */
export function dryRunReport<Value>(
  file: string,
  { added, changed, unchanged }: ImportPreview<Value>,
  refused: Tally<RefusedLine>,
  { noun, columns, write }: RowKind<Value>,
): string {
  const amount = (label: string, count: number) => `  ${label.padEnd(18)}${grouped(count).padStart(12)}`
  const fieldsOf = (value: Value) => {
    const texts = write(value)
    return columns.map(({ name, json }, index) => {
      const text = texts[index] ?? ''
      return { name, text: json === 'string' ? quoted(text) : text }
    })
  }
  const idOf = (value: Value) => `${noun} ${write(value)[0]}`
  return [
    `Dry run of ${file}: nothing was changed.`,
    '',
    amount('would add', added.count),
    amount('would change', changed.count),
    amount('would leave alone', unchanged),
    amount('refused', refused.count),
    ...section('Would add', added, ({ line, value }) => {
      const fields = fieldsOf(value).slice(1)
      return [line, `${idOf(value)}: ${fields.map(({ name, text }) => `${name} ${text}`).join(', ')}`]
    }),
    ...section('Would change', changed, ({ line, value, before }) => {
      const earlier = fieldsOf(before)
      const fields = fieldsOf(value)
        .map(({ name, text }, index) => ({ name, text, was: earlier[index]?.text }))
        .filter(({ text, was }) => text !== was)
      return [
        line,
        `${idOf(value)}: ${fields.map(({ name, text, was }) => `${name} ${was} → ${text}`).join(', ')}`,
      ]
    }),
    ...section('Refused', refused, ({ line, reason }) => [line, reason]),
  ].join('\n')
}

type Told = readonly [line: number, text: string]

function section<Example>(title: string, tally: Tally<Example>, tell: (example: Example) => Told): string[] {
  return tally.count === 0 ? [] : ['', title, ...listed(tally, tell)]
}

function listed<Example>({ count, first }: Tally<Example>, tell: (example: Example) => Told): string[] {
  const lines = first.map(tell).map(([line, text]) => `  line ${line}: ${text}`)
  if (count > first.length)
    lines.push(`  … and ${grouped(count - first.length)} more (--show ${count} shows all)`)
  return lines
}
