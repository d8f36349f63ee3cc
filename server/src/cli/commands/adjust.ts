import { type Command, Option } from 'commander'
import { Reason, Reference } from '../../core/stock/adjustment-fields.ts'
import { REASONS, type Reason as ReasonWord } from '../../core/stock/command.ts'
import { ADJUSTMENT_ROWS } from '../../core/transfer/adjustment-rows.ts'
import type { FileKind } from '../../core/transfer/file-header.ts'
import { ADJUST_KEY_ID } from '../../core/transfer/staged-adjustment.ts'
import { quoted } from '../../core/values/exact-json.ts'
import { codecOf, type FieldCodec } from '../../core/values/field.ts'
import { runAdjustment } from '../adjustment-run.ts'
import { wrongUse } from '../arguments.ts'
import { addFileOptions, type FileFlags, withFile } from '../file-run.ts'
import { databaseName, withStore } from '../with-store.ts'

interface Flags extends FileFlags {
  readonly reason: ReasonWord
  readonly reference?: string
}

const KINDS: readonly FileKind<'adjustment'>[] = [
  {
    name: 'adjustment',
    called: 'an adjustment',
    columns: ADJUSTMENT_ROWS.columns,
    header: 'petId,delta or petId,quantity, with expected beside it where that is to be checked',
  },
]

export function addAdjustCommand(program: Command): void {
  const command = program
    .command('adjust')
    .description(
      'Change the stock of many pets in one adjustment, and say what for, while the service runs: all of the file or nothing, in one commit.',
    )
    .addOption(
      new Option('--reason <reason>', `one of ${REASONS.join(', ')}`)
        .argParser(flagParser(codecOf('--reason', Reason)))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--reference <text>', 'what it belongs to, such as the number of a delivery').argParser(
        flagParser(codecOf('--reference', Reference)),
      ),
    )
  addFileOptions(command)
    .addHelpText(
      'after',
      `
CSV begins with one of these headers; JSON Lines have the same names:
  petId,delta              how many came in, or below 0 went out
  petId,quantity           how many there are now
  petId,delta,expected     only if there are as many as expected now; likewise with quantity
With both, petId,delta,quantity, each line leaves one of the two blank.`,
    )
    .action(adjustFile)
}

function flagParser({ name, expected, fromText }: FieldCodec): (text: string) => unknown {
  return (text) => fromText(text) ?? wrongUse(`${name} must be ${expected}, got ${quoted(text)}`)
}

async function adjustFile(file: string, flags: Flags): Promise<void> {
  const { reason, reference } = flags
  await withFile(file, flags, KINDS, (run) =>
    withStore(flags, 'expect', async (store, config) =>
      runAdjustment(run, flags, ADJUSTMENT_ROWS, await store.stageAdjustment(), {
        ...{ keyId: ADJUST_KEY_ID, reason, reference, skipRefused: false },
        database: databaseName(config),
        clock: store.clock,
        pause: store.writePause,
        advice: 'Mend the file and give it again',
      }),
    ),
  )
}
