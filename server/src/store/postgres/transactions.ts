import type { Durability, Statement } from '../sql.ts'
import { bound } from './parameters.ts'
import type { Session } from './session-pool.ts'

const BEGIN: Readonly<Record<Durability, string>> = {
  durable: 'BEGIN',
  forgettable: 'BEGIN; SET LOCAL synchronous_commit = off',
}

/** BEGIN goes out with the first statement: on a network, each way counts. */
export async function transact<T>(
  session: Session,
  durability: Durability,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const begun = session.unsafe(BEGIN[durability]).execute()
  try {
    const result = await work(session)
    await begun
    await session`COMMIT`
    return result
  } catch (error) {
    await session`ROLLBACK`.catch(() => {})
    throw error
  }
}

/**
 * A short transaction that goes to the database and back only twice: what `read` asks for goes with the BEGIN, what
 * `write` does with the COMMIT.
 */
export async function transactInTwoTrips<Found>(
  session: Session,
  durability: Durability,
  read: (session: Session) => Promise<Found>,
  write: (session: Session, found: Found) => Promise<unknown> | undefined,
  maxLockWaitMs?: number,
): Promise<void> {
  const lockTimeout = maxLockWaitMs === undefined ? '' : `; SET LOCAL lock_timeout = ${maxLockWaitMs}`
  try {
    const begun = session.unsafe(`${BEGIN[durability]}${lockTimeout}`).execute()
    const [, found] = await Promise.all([begun, read(session)])
    // Both: the COMMIT of a transaction that has failed succeeds, and undoes it.
    await Promise.all([write(session, found), session`COMMIT`.execute()])
  } catch (error) {
    await session`ROLLBACK`.catch(() => {})
    throw error
  }
}

/** On their way together, one after the other; gives how many rows each has changed. */
export async function runAll(session: Session, statements: readonly Statement[]): Promise<number[]> {
  const results = await Promise.all(
    statements.map(({ text, values }) => session.unsafe(text, values.map(bound)).execute()),
  )
  return results.map(({ count }) => count)
}
