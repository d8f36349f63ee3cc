import { REASONS, Reason, Reference } from '../../core/stock/adjustment-fields.ts'
import { ADJUSTMENT_ROW_KIND } from '../../core/transfer/adjustment.ts'
import type { FileKind } from '../../core/transfer/csv.ts'
import { ADJUST_KEY_ID } from '../../core/transfer/import.ts'
import { codecOf, type FieldCodec, quote } from '../../core/values/field.ts'
import { type PetstoreCommand, throwUsageError } from '../arguments.ts'
import { addFileOptions, type FileFlags, runImport, withFile } from '../import-run.ts'
import { withStore } from '../with-store.ts'

interface Flags extends FileFlags {
  readonly reason: Reason
  readonly reference?: string
}

const KINDS: readonly FileKind<'adjustment'>[] = [
  {
    name: 'adjustment',
    label: 'an adjustment',
    columns: ADJUSTMENT_ROW_KIND.columns,
    headerDescription: 'petId,delta or petId,quantity, each with an optional column named expected',
  },
]

export function addAdjustCommand(program: PetstoreCommand): void {
  const command = program
    .command('adjust')
    .description(
      'Adjust the stock of many pets for one reason, even while the service is running. The file is applied in one commit, or not at all.',
    )
    .requiredOption(
      '--reason <reason>',
      `one of ${REASONS.join(', ')}`,
      flagParser(codecOf('--reason', Reason)),
    )
    .option(
      '--reference <text>',
      'what the adjustment refers to, such as a delivery note',
      flagParser(codecOf('--reference', Reference)),
    )
  addFileOptions(command)
    .addHelpText(
      'after',
      `
A CSV file starts with one of these headers; JSON Lines use the same names:
  petId,delta              units to add or, if negative, to remove
  petId,quantity           the new stock
  petId,delta,expected     refused unless the current stock is the expected stock
  petId,quantity,expected
A header may also have both delta and quantity; then each line leaves one of them empty.`,
    )
    .action(adjustFile)
}

function flagParser({ name, expected, fromText }: FieldCodec): (text: string) => unknown {
  return (text) => fromText(text) ?? throwUsageError(`${name} must be ${expected}, got ${quote(text)}`)
}

async function adjustFile(path: string, flags: Flags): Promise<void> {
  const { reason, reference } = flags
  await withFile(path, flags, KINDS, (file) =>
    withStore(flags, 'require_current_tables', async ({ store, database }) =>
      runImport(file, flags, {
        rowKind: ADJUSTMENT_ROW_KIND,
        staged: await store.stageAdjustment(),
        store,
        database,
        keyId: ADJUST_KEY_ID,
        reason,
        reference,
        skipRefused: false,
        badLinesAdvice: 'Fix the file and run the command again',
      }),
    ),
  )
}
