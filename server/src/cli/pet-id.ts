import type { Command } from 'commander'
import { parseInt64 } from '../core/values/int64.ts'

/** Reads an argument of the command line; anything but an int64 is wrong use. */
export function readPetId(text: string, command: Command): bigint {
  return (
    parseInt64(text) ??
    command.error(
      `petId must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got "${text}"`,
    )
  )
}
