import Type from 'typebox'
import { dayOf } from '../core/reports/days.ts'
import {
  GROUP_FIELDS,
  MAX_REPORT_DAYS,
  MAX_REPORT_ROWS,
  MOVEMENT_FIGURES,
  MOVEMENT_ROW,
  type MovementRow as MovementRecord,
  REPORT_GROUPS,
  REPORT_RANGE,
  type ReportGroup,
  reportMovements,
} from '../core/reports/movement-report.ts'
import { csvLine } from '../core/transfer/csv.ts'
import { codecsOf, DateTime, jsonWriter, OneOf } from '../core/values/field.ts'
import { defineOperation } from './operation.ts'
import { CSV_TYPE, conditionalReply, jsonReply, prefersCsv, VARY_BY_TYPE } from './reply.ts'
import { PlainText } from './schemas.ts'

const EXAMPLE_TOTAL = {
  received: 24,
  returned: 1,
  sold: 17,
  damaged: 0,
  lost: 0,
  countedUp: 0,
  countedDown: 2,
  corrected: 0,
  change: 6,
}

const EXAMPLE_ROW = { day: '2026-11-15', ...EXAMPLE_TOTAL }

const MovementRow = Type.Object(MOVEMENT_ROW, {
  title: 'MovementRow',
  examples: [EXAMPLE_ROW],
})

const MovementReport = Type.Object(
  {
    ...REPORT_RANGE,
    timeZone: PlainText('The time zone that says where a day begins.'),
    by: OneOf(REPORT_GROUPS, { title: 'ReportGroup', description: 'What the rows stand for.' }),
    total: MovementRow,
    rows: Type.Array(MovementRow, { description: 'Without rows in which every figure is 0.' }),
  },
  {
    title: 'MovementReport',
    examples: [
      {
        since: '2026-11-14T23:00:00.000Z',
        until: '2026-11-15T23:00:00.000Z',
        timeZone: 'Europe/Berlin',
        by: 'day',
        total: EXAMPLE_TOTAL,
        rows: [EXAMPLE_ROW],
      },
    ],
  },
)

export const getMovementReport = defineOperation('GET', '/reports/movements', {
  summary: 'Sum the units that came in and went out',
  description: [
    'Returns how many units were received, sold, returned, counted and so on in a time range, by day, pet, category, reason or API key, net of reversals.',
    'A fact counts when it happened, not when it was recorded. A reversal that corrects counts at the time and with the reason of what it reverses; goods that came back count as returned.',
    'A sale or delivery that a later count had included already counts as such, and in the other direction as counted, so the figures always add up to `change`.',
    'If old history was removed, `completeSince` says from when the report is complete.',
    `A report has at most ${MAX_REPORT_ROWS} rows and, by day, ${MAX_REPORT_DAYS} days; beyond that, and if it takes too long, the response is 400.`,
    'With `Accept: text/csv` the response is a CSV file of the rows, and the header `Complete-Since` has the time.',
  ].join(' '),
  stability: 'beta',
  query: {
    since: Type.Optional(DateTime('The beginning of the range; by default of the current day.')),
    until: Type.Optional(
      DateTime('The end of the range, which is not part of it; by default of the current day.'),
    ),
    by: OneOf(REPORT_GROUPS, { default: 'day', description: 'What each row stands for.' }),
  },
  success: {
    description: 'The report.',
    schema: MovementReport,
    csv: csvOf([EXAMPLE_ROW], 'day'),
    headers: ['Complete-Since'],
  },
  reply: async ({ query, request, key }, { store, longReads, clock, timeZone }) => {
    const now = clock()
    const today = dayOf(now, timeZone)
    const { by, since = today.since, until = today.until } = query
    const reportRequest = { by, since, until, timeZone, now }
    const report = await longReads.run(key.id, () => reportMovements(store, reportRequest))
    const { completeSince } = report
    const headers = {
      ...VARY_BY_TYPE,
      ...(completeSince === undefined ? {} : { 'Complete-Since': new Date(completeSince).toISOString() }),
    }
    const reply = prefersCsv(request)
      ? { status: 200, headers: { 'Content-Type': CSV_TYPE, ...headers }, body: csvOf(report.rows, by) }
      : jsonReply({ ...rangeBody(report), timeZone, by, total: report.total, rows: report.rows }, headers)
    return conditionalReply(reply, request)
  },
})

const rangeBody = jsonWriter(REPORT_RANGE)

function csvOf(rows: readonly MovementRecord[], by: ReportGroup): string {
  const names: readonly string[] = [...GROUP_FIELDS[by], ...Object.keys(MOVEMENT_FIGURES)]
  const columns = codecsOf(MOVEMENT_ROW).filter(({ name }) => names.includes(name))
  const header = `${columns.map(({ name }) => name).join()}\n`
  const lines = rows.map((row) => {
    const values: Readonly<Record<string, unknown>> = row
    return csvLine(
      columns,
      columns.map(({ name, toText }) => (values[name] === undefined ? undefined : toText(values[name]))),
    )
  })
  return header + lines.join('')
}
