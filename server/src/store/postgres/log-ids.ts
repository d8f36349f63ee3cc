import type { SQL } from 'bun'

/**
 * So many rows of the log can be written with one number of the sequence `log_ids`: all that a commit without orders can
 * leave, of which each change may cross a threshold.
 */
export const IDS_A_NUMBER = 2_000

/** How many numbers so many rows take. */
export function numbersFor(rows: number): number {
  return Math.ceil(rows / IDS_A_NUMBER)
}

/** Gives the id of each row of a commit that has taken these numbers, by its index. */
export function idsFrom(numbers: readonly bigint[]): (index: number) => bigint {
  return (index) => {
    const number = numbers[Math.floor(index / IDS_A_NUMBER)]
    if (number === undefined)
      throw new Error(`${numbers.length} numbers are too few for row ${index} of the log`)
    return number + BigInt(index % IDS_A_NUMBER)
  }
}

/** So many numbers of the sequence, as the text of an array. Taken while the pets are locked. */
export const takenLogNumbers = (count: string) =>
  `ARRAY(SELECT nextval('log_ids') FROM generate_series(1, ${count}::bigint))::text`

/** For so many rows. */
export async function takeLogNumbers(sql: SQL, rows: number): Promise<bigint[]> {
  const [taken] = await sql.unsafe<{ numbers: string }[]>(`SELECT ${takenLogNumbers('$1')} AS numbers`, [
    BigInt(numbersFor(rows)),
  ])
  return numbersIn(taken?.numbers ?? '{}')
}

/** In the text of an array. */
export function numbersIn(text: string): bigint[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt)
}
