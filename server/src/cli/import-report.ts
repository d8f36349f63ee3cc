import type { ImportPreview, Tally } from '../core/transfer/import.ts'
import type { RefusedLine, RowKind } from '../core/transfer/rows.ts'
import { quote } from '../core/values/field.ts'
import { formatNumber } from './terminal.ts'

export function printRefused(refused: Tally<RefusedLine>): void {
  for (const line of exampleLines(refused, ({ reason }) => reason)) console.error(line)
}

/** Appends the time and the rate to `result`, such as `3 pets added, 2 changed, 4 unchanged`. */
export function importSummary(result: string, rows: number, seconds: number): string {
  // A short import spends most of its time on startup, so its rate would mislead.
  const rate = seconds < 1 ? '' : `, ${formatNumber(Math.round(rows / seconds))} rows/s`
  return `${result} (${seconds.toFixed(1)} s${rate})`
}

const NO_VALUE = 'none'

/** Counts the changes that an import would make, and lists the first lines of each kind. */
export function dryRunReport<Value>(
  file: string,
  { added, changed, unchanged }: ImportPreview<Value>,
  refused: Tally<RefusedLine>,
  { noun, columns, write }: RowKind<Value>,
  { isAdjustment }: { readonly isAdjustment: boolean },
): string {
  const fieldsOf = (value: Value) => {
    const texts = write(value)
    return columns.map(({ name, json, isOptional }, index) => {
      const text = texts[index]
      if (isOptional && text === '') return { name, text: NO_VALUE }
      return { name, text: text === undefined || json !== 'string' ? text : quote(text) }
    })
  }
  const nameOf = (value: Value) => `${noun} ${write(value)[0]}`
  const counts = {
    ...(isAdjustment ? {} : { 'would add': added.count }),
    'would change': changed.count,
    'would leave alone': unchanged,
    refused: refused.count,
  }
  const countLines = Object.entries(counts).map(
    ([label, count]) => `  ${label.padEnd(18)}${formatNumber(count).padStart(12)}`,
  )
  return [
    `Dry run of ${file}: nothing was changed.`,
    '',
    ...countLines,
    ...section('Would add', added, ({ value }) => {
      const fields = fieldsOf(value)
        .slice(1)
        .filter(({ text }) => text !== undefined && text !== NO_VALUE)
      return `${nameOf(value)}: ${fields.map(({ name, text }) => `${name} ${text}`).join(', ')}`
    }),
    ...section('Would change', changed, ({ value, before }) => {
      const oldFields = fieldsOf(before)
      const fields = fieldsOf(value)
        .map(({ name, text }, index) => ({ name, text, oldText: oldFields[index]?.text }))
        .filter(({ text, oldText }) => text !== undefined && text !== oldText)
      const changes = fields.map(({ name, text, oldText }) => `${name} ${oldText} → ${text}`)
      return `${nameOf(value)}: ${changes.join(', ')}`
    }),
    ...section('Refused', refused, ({ reason }) => reason),
  ].join('\n')
}

function section<Example extends { readonly line: number }>(
  title: string,
  tally: Tally<Example>,
  textOf: (example: Example) => string,
): string[] {
  return tally.count === 0 ? [] : ['', title, ...exampleLines(tally, textOf)]
}

function exampleLines<Example extends { readonly line: number }>(
  { count, first }: Tally<Example>,
  textOf: (example: Example) => string,
): string[] {
  const lines = first.map((example) => `  line ${example.line}: ${textOf(example)}`)
  if (count > first.length) {
    lines.push(`  … and ${formatNumber(count - first.length)} more (--show ${count} shows all)`)
  }
  return lines
}
