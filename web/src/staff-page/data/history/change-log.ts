import type { Page, Reason } from '@petstore/client'

/** One change of one pet's stock. */
export interface Change {
  readonly petId: bigint
  readonly before: number
  readonly after: number
  /** In milliseconds since 1970. */
  readonly at: number
  readonly keyId: string
  /** An event tells the id of the key alone; its name comes with the history. */
  readonly keyName: string | undefined
  /** What it was made for, where it tells. */
  readonly reason?: Reason
  readonly reference?: string
}

/** A change as the service writes it, in an entry of a history or in an event. */
type WrittenChange = Omit<Change, 'at' | 'keyName'> & { readonly at: string; readonly keyName?: string }

export function changeOf(written: WrittenChange): Change {
  const { petId, before, after, at, keyId, keyName, reason, reference } = written
  const told = reason === undefined ? {} : { reason, ...(reference === undefined ? {} : { reference }) }
  return { petId, before, after, at: Date.parse(at), keyId, keyName, ...told }
}

/** What is known of a history, newest first: what the service listed, and what it has told of since. */
export interface ChangeLog {
  readonly changes: readonly Change[]
  /** Where the older ones go on; `undefined` where there are none. */
  readonly next: string | undefined
}

export const EMPTY_LOG: ChangeLog = { changes: [], next: undefined }

/** With changes that were just told of, the latest last. One that is listed already stays where it is. */
export function withEvents(log: ChangeLog, told: readonly Change[]): ChangeLog {
  const names = new Map(log.changes.map(({ keyId, keyName }) => [keyId, keyName]))
  const added = told
    .filter((change) => !isIn(log.changes, change))
    .map((change) => ({ ...change, keyName: change.keyName ?? names.get(change.keyId) }))
  return added.length === 0 ? log : { ...log, changes: [...added.reverse(), ...log.changes] }
}

/** With the newest page listed anew. What it does not reach down to is left out, so that there is no gap. */
export function withNewest(log: ChangeLog, page: Page<Change>): ChangeLog {
  const [newest, oldest] = [page.items[0], page.items.at(-1)]
  if (newest === undefined || oldest === undefined) return { ...log, next: page.next }
  // Told of while the page was on its way.
  const ahead = log.changes.filter((change) => change.at >= newest.at && !isIn(page.items, change))
  const end = log.changes.findIndex((change) => isSame(change, oldest))
  const older = end === -1 ? [] : log.changes.slice(end + 1)
  return {
    changes: [...ahead, ...page.items, ...older],
    next: older.length === 0 ? page.next : log.next,
  }
}

/** With the page that follows the oldest. */
export function withOlder(log: ChangeLog, page: Page<Change>): ChangeLog {
  return { changes: [...log.changes, ...page.items], next: page.next }
}

function isIn(changes: readonly Change[], wanted: Change): boolean {
  return changes.some((change) => isSame(change, wanted))
}

function isSame(a: Change, b: Change): boolean {
  return (
    a.petId === b.petId &&
    a.at === b.at &&
    a.before === b.before &&
    a.after === b.after &&
    a.keyId === b.keyId
  )
}
