import type { ReactNode } from 'preact/compat'
import type { Contract } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import type { Schema } from '../openapi-document.ts'
import { usePart } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { TypeLink } from '../reference/schema-fields.tsx'
import { StatusTag } from '../reference/tags.tsx'
import { clientMethod } from '../samples/client-sample.ts'
import type { TableName } from './guide.ts'

/** The contract says when an error occurs; this says what a program does about it. */
export const WHAT_TO_DO: Readonly<Record<string, string>> = {
  invalid_request: 'Correct the request. The message says which part is wrong.',
  unauthorized: 'Send a valid key. Do not retry with the same key.',
  forbidden:
    'Use a key with the permission that the message names. GET /limits returns the permissions of a key.',
  not_found: 'Check the id and the path.',
  method_not_allowed: 'Use a method that the `Allow` header lists.',
  request_timeout: 'Send the whole request at once, over a new connection.',
  gone: 'Use the operation that replaces it.',
  insufficient_stock: 'Take fewer units, or wait for more. `details` lists each pet and its available units.',
  order_closed: 'If the hold expired, order again. `details` has the state of the order.',
  in_use:
    'Complete or cancel the open orders of the pet, or move the pets to another category, then remove it. Remove a webhook before you create another. Give another key the permission `keys` first. Resume a key, or extend it, before you create a pairing code.',
  already_exists: 'Use the existing pet, or another id or barcode. The message says which pet has it.',
  precondition_failed: 'Read the entry again, decide again, and send its new ETag or quantity.',
  payload_too_large: 'Send a smaller body.',
  idempotency_key_reused:
    'Use a new idempotency key for each change, and repeat it only with the same request.',
  rate_limit_exceeded: 'Wait for `Retry-After`, then retry.',
  key_banned: 'Wait for `Retry-After`, and send fewer requests.',
  internal_error: 'Retry once, then report the problem with the request id.',
  service_unavailable: 'Wait for `Retry-After`, then retry.',
}

const EVENT_MEANINGS: Readonly<Record<string, string>> = {
  ready: 'The stream has begun. Its id is the starting point.',
  change: 'A quantity changed.',
  order: 'An order was created, changed, completed or cancelled, or its hold expired.',
  pet: 'A pet was added, or changed in anything but its quantity.',
  low: 'The available units reached the threshold of the pet or its category.',
  recovered: 'The available units rose above the threshold again.',
  removed: 'A pet and its inventory entry were removed.',
  relist: 'You missed too many events: read the list again, then continue after this event.',
}

export function ContractTable({ name }: { readonly name: TableName }) {
  const contract = useContract()
  switch (name) {
    case 'plans':
      return <Table columns={['Plan', 'Per minute', 'Per day']} rows={planRows(contract)} isNumeric />
    case 'bans':
      return <Table columns={['Ban', 'Duration']} rows={banRows(contract)} />
    case 'limit-headers':
      return <Table columns={['Header', 'Meaning']} rows={limitHeaderRows(contract)} />
    case 'error-codes':
      return <Table columns={['Status', 'Code', 'When', 'What to do']} rows={errorCodeRows(contract)} />
    case 'event-kinds':
      return <Table columns={['Event', 'Meaning', 'Data']} rows={eventRows(contract)} />
    case 'webhook-types':
      return <Table columns={['Type', 'Meaning', 'Body']} rows={webhookRows(contract)} />
    case 'client-methods':
      return <Table columns={['Method', 'Operation']} rows={clientMethodRows(contract)} />
  }
}

interface Row {
  /** Gives the row an address of its own. */
  readonly part?: string
  readonly cells: readonly ReactNode[]
}

function planRows({ document }: Contract): readonly Row[] {
  const inDigits = (count: number | undefined) => count?.toLocaleString('en-US') ?? 'as agreed'
  return Object.entries(document['x-rate-limits'].plans).map(([plan, limits]) => ({
    cells: [<span className="plan-name">{plan}</span>, inDigits(limits?.perMinute), inDigits(limits?.perDay)],
  }))
}

function banRows({ document }: Contract): readonly Row[] {
  const { firstSeconds, longestSeconds } = document['x-rate-limits'].ban
  return [
    { cells: ['The first ban, or the first after a day without one', `${firstSeconds / 60} minutes`] },
    {
      cells: ['Each further ban', `twice as long as the one before, up to ${longestSeconds / 60} minutes`],
    },
  ]
}

function limitHeaderRows({ operations }: Contract): readonly Row[] {
  const headers = operations[0]?.answers[0]?.headers ?? []
  return headers
    .filter(({ name }) => name.startsWith('X-RateLimit-'))
    .map(({ name, description }) => ({ cells: [<code>{name}</code>, description] }))
}

function errorCodeRows({ document }: Contract): readonly Row[] {
  return document['x-error-codes'].map(({ code, status, description }) => ({
    part: code,
    cells: [
      <StatusTag status={status} />,
      <code>{code}</code>,
      <InlineText text={description} />,
      <InlineText text={WHAT_TO_DO[code] ?? ''} />,
    ],
  }))
}

function eventRows({ operations }: Contract): readonly Row[] {
  const answers = operations.flatMap((operation) => operation.answers)
  return answers
    .flatMap(({ events = {} }) => Object.entries(events))
    .map(([kind, schema]) => ({
      cells: [<code>{kind}</code>, EVENT_MEANINGS[kind], dataLink(schema)],
    }))
}

function dataLink(schema: Schema): ReactNode {
  return schema.$ref === undefined ? <span className="muted">none</span> : <TypeLink schema={schema} />
}

function webhookRows({ document }: Contract): readonly Row[] {
  return Object.entries(document.webhooks).map(([type, { post }]) => ({
    cells: [
      <code>{type}</code>,
      `${post.summary}.`,
      <TypeLink schema={post.requestBody?.content['application/json']?.schema ?? {}} />,
    ],
  }))
}

/** The client calls no deprecated operation. */
function clientMethodRows({ operations }: Contract): readonly Row[] {
  const called = operations.filter(({ sunset }) => sunset === undefined)
  return called.map(({ id, method, path }) => ({
    cells: [
      <a href={href({ page: 'operations', id })}>
        <code>{clientMethod(id)}</code>
      </a>,
      <code>
        {method} {path}
      </code>,
    ],
  }))
}

interface TableProps {
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** Columns of numbers are aligned to the right, and three columns of text are stacked on a phone. */
  readonly isNumeric?: boolean
}

function Table({ columns, rows, isNumeric = false }: TableProps) {
  const layout = isNumeric ? 'numeric' : columns.length > 2 ? 'stacking' : 'plain'
  return (
    <table className={`table table--${layout} prose__table`}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <TableRow key={index} {...row} />
        ))}
      </tbody>
    </table>
  )
}

function TableRow({ part, cells }: Row) {
  const target = usePart(part ?? '')
  return (
    <tr {...(part === undefined ? {} : target)}>
      {cells.map((cell, column) => (
        <td key={column}>{cell}</td>
      ))}
    </tr>
  )
}
