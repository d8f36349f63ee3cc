import { BadRow } from '../../src/core/transfer/rows.ts'

/** The reason why a row is rejected. */
export function reasonOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof BadRow) return error.message
    throw error
  }
  return 'it was taken'
}
