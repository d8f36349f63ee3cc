import { BadRow } from '../../src/core/transfer/rows.ts'

/** Why a row is refused. */
export function reasonOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof BadRow) return error.message
    throw error
  }
  return 'it was taken'
}
