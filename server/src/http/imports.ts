import Type from 'typebox'
import { requirePermission } from '../core/keys/api-key.ts'
import { decisiveCode } from '../core/stock/refusal.ts'
import { BadFile, decodeFile, ENCODINGS } from '../core/transfer/csv.ts'
import { IMPORT_KIND_NAMES, parseMapping } from '../core/transfer/files.ts'
import { type ImportReport, importFiles, KeyUsed, RowsRefused } from '../core/transfer/import.ts'
import { PRESET_NAMES } from '../core/transfer/presets.ts'
import { LOCALES } from '../core/transfer/rows.ts'
import { type ErrorDetail, ServiceError } from '../core/values/errors.ts'
import { OneOf } from '../core/values/field.ts'
import { defineOperation, invalid, replyAgain, serializeReply } from './operation.ts'
import { jsonReply } from './reply.ts'
import { Count, Flag, PlainText } from './schemas.ts'

const MAX_FILE_BYTES = 64 * 1024 * 1024

const ImportKind = OneOf(IMPORT_KIND_NAMES, { title: 'ImportKind', description: 'The records of a file.' })

const ImportResult = Type.Object(
  {
    kind: ImportKind,
    dryRun: Flag('If true, nothing was changed.'),
    rows: Count('The rows of the file, without the header and blank rows.'),
    added: Count('The records that were created.'),
    changed: Count('The records that were changed.'),
    unchanged: Count('The rows that agreed with the store.'),
    ignoredColumns: Type.Array(PlainText('The name of a column, and a similar column that exists.'), {
      description: 'The columns of the file that the import ignores.',
    }),
  },
  {
    title: 'ImportResult',
    examples: [
      {
        kind: 'pets',
        dryRun: false,
        rows: 2,
        added: 1,
        changed: 1,
        unchanged: 0,
        ignoredColumns: ['"Price"'],
      },
    ],
  },
)

export const importFile = defineOperation('POST', '/imports', {
  summary: 'Import a file',
  description:
    'Imports a CSV file of up to 64 MiB: all of its rows or none. The first line names the columns, which are separated by commas, semicolons or tabs. They are found by their English or German names, or by `map`; other columns are ignored. A row of a pet without an id changes the pet that has its barcode, or else creates a pet. If rows are refused, `details` names up to 1,000 of them with their lines. Setting the stock of pets needs the permission `stock` as well, and a file of orders the permission `orders`. While the import writes, other changes of the same pets, and with SQLite all changes, wait or get 503 with Retry-After. Only an import that was made is remembered for its Idempotency-Key: a dry run or a refused file changes nothing, so it is checked again.',
  stability: 'beta',
  permission: 'pets',
  hasNoDeadline: true,
  maxBodyBytes: MAX_FILE_BYTES,
  acceptsIdempotencyKey: true,
  csvExample: 'name,category,quantity,barcode\nBiscuit,Dogs,12,4006381333931\n',
  query: {
    kind: { ...ImportKind, default: 'pets' },
    dryRun: { ...Flag('Checks the whole file and changes nothing.'), default: false },
    map: Type.Optional(PlainText('Columns with other names, such as `Article:name,Stock:quantity`.')),
    preset: Type.Optional(
      OneOf(PRESET_NAMES, {
        description:
          'The system that exported a file of pets. Its columns are read as its documentation names them.',
      }),
    ),
    locale: Type.Optional(
      OneOf(LOCALES, {
        description: 'How numbers are written. Needed only if the file has numbers such as 1.200 or 1,200.',
      }),
    ),
    encoding: {
      ...OneOf(ENCODINGS, { description: 'The encoding of the file; latin1 is Windows-1252.' }),
      default: 'utf8',
    },
  },
  success: { description: 'What the import did, or would do.', schema: ImportResult },
  errors: ['not_found', 'already_exists', 'insufficient_stock'],
  reply: async ({ query, body, key, requester, idempotency }, services) => {
    const { kind, dryRun, encoding, map, preset, locale } = query
    if (kind === 'count') requirePermission(key, 'stock')
    if (kind === 'orders') requirePermission(key, 'orders')
    if (!(body instanceof Uint8Array)) throw new Error('the body of an import must be bytes')
    const toReply = ([report]: readonly ImportReport[]) => jsonReply({ kind, dryRun, ...report })
    try {
      const reports = await importFiles(services, {
        files: [{ kind, text: decodeFile(body, encoding) }],
        dryRun,
        preset,
        locale,
        mapping: map === undefined ? undefined : parseMapping(map),
        canChangeStock: key.permissions.includes('stock'),
        idempotency: idempotency && { ...idempotency, answer: (reports) => serializeReply(toReply(reports)) },
        origin: { keyId: key.id, at: services.clock() },
        onStep: () => {
          if (!requester.hasLeft) return
          throw new ServiceError('service_unavailable', 'the caller has left; nothing was changed')
        },
      })
      return toReply(reports)
    } catch (error) {
      if (error instanceof KeyUsed && idempotency !== undefined) return replyAgain(error.answer, idempotency)
      if (error instanceof BadFile) throw invalid(error.message)
      throw error instanceof RowsRefused ? refusedRows(error) : error
    }
  },
})

const MAX_NAMED_ROWS = 1_000

function refusedRows({ refused, message }: RowsRefused): ServiceError {
  const details = refused.slice(0, MAX_NAMED_ROWS).map(
    ({ line, reason, code = 'invalid_request', petId }): ErrorDetail => ({
      index: line - 1,
      line,
      ...(petId === undefined ? {} : { petId }),
      code,
      message: reason,
    }),
  )
  return new ServiceError(decisiveCode(details), `${message}; nothing was changed`, { details })
}
