import type { RefusedLine, RowKind } from '../core/transfer/exchange-rows.ts'
import type { AdjustmentReport } from '../core/transfer/staged-adjustment.ts'
import type { ImportPreview, Tally } from '../core/transfer/staged-import.ts'
import { quoted } from '../core/values/exact-json.ts'
import { counted, grouped } from './terminal.ts'

/** The refused lines that are told, each with its reason. */
export function refusedLines(refused: Tally<RefusedLine>): string[] {
  return listed(refused, ({ line, reason }) => [line, reason])
}

/** Both, by line, as many as are told. */
export function together(
  one: Tally<RefusedLine>,
  other: Tally<RefusedLine> = { count: 0, first: [] },
  examples: number,
): Tally<RefusedLine> {
  const first = [...one.first, ...other.first].sort((a, b) => a.line - b.line).slice(0, examples)
  return { count: one.count + other.count, first }
}

/** `done` says what became of the good rows. */
export function summary(done: string, rows: number, refused: number, seconds: number): string {
  const rate = seconds > 0 ? Math.round(rows / seconds) : 0
  const skipped = refused > 0 ? `, ${counted(refused, 'bad line')} skipped` : ''
  return `${done}${skipped} (${seconds.toFixed(1)} s, ${grouped(rate)} rows/s)`
}

/** Stands where something may be left blank, and is. */
const NONE = 'none'

/** What an import would do, line by line as far as asked for. */
export function dryRunReport<Value>(
  file: string,
  { added, changed, unchanged }: ImportPreview<Value>,
  refused: Tally<RefusedLine>,
  { noun, columns, write }: RowKind<Value>,
): string {
  const fieldsOf = (value: Value) => {
    const texts = write(value)
    return columns.map(({ name, json, isOptional }, index) => {
      const text = texts[index]
      if (isOptional === true && text === '') return { name, text: NONE }
      return { name, text: text === undefined || json !== 'string' ? text : quoted(text) }
    })
  }
  const idOf = (value: Value) => `${noun} ${write(value)[0]}`
  return [
    ...dryRunHead(file, {
      'would add': added.count,
      'would change': changed.count,
      'would leave alone': unchanged,
      refused: refused.count,
    }),
    ...section('Would add', added, ({ line, value }) => {
      const fields = fieldsOf(value)
        .slice(1)
        .filter(({ text }) => text !== undefined && text !== NONE)
      return [line, `${idOf(value)}: ${fields.map(({ name, text }) => `${name} ${text}`).join(', ')}`]
    }),
    ...section('Would change', changed, ({ line, value, before }) => {
      const earlier = fieldsOf(before)
      const fields = fieldsOf(value)
        .map(({ name, text }, index) => ({ name, text, was: earlier[index]?.text }))
        .filter(({ text, was }) => text !== undefined && text !== was)
      return [
        line,
        `${idOf(value)}: ${fields.map(({ name, text, was }) => `${name} ${was} → ${text}`).join(', ')}`,
      ]
    }),
    ...section('Refused', refused, ({ line, reason }) => [line, reason]),
  ].join('\n')
}

/** What an adjustment would do, likewise. */
export function adjustmentDryRunReport(
  file: string,
  { changed, unchanged }: AdjustmentReport,
  refused: Tally<RefusedLine>,
): string {
  return [
    ...dryRunHead(file, {
      'would change': changed.count,
      'would leave alone': unchanged,
      refused: refused.count,
    }),
    ...section('Would change', changed, ({ line, petId, before, after }) => [
      line,
      `pet ${petId}: quantity ${before} → ${after}`,
    ]),
    ...section('Refused', refused, ({ line, reason }) => [line, reason]),
  ].join('\n')
}

function dryRunHead(file: string, amounts: Readonly<Record<string, number>>): string[] {
  const lines = Object.entries(amounts).map(
    ([label, count]) => `  ${label.padEnd(18)}${grouped(count).padStart(12)}`,
  )
  return [`Dry run of ${file}: nothing was changed.`, '', ...lines]
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
