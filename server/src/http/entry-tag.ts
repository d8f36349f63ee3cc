import { type EntryState, MAX_QUANTITY, PET_STATUSES } from '../core/stock/inventory.ts'
import { ServiceError } from '../core/values/errors.ts'

/** One entity tag of a list (RFC 9110, 8.8.3) and what separates it from the next. */
const LISTED_TAG = /[ \t]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)|[ \t]*,/y
const OWN_TAG = new RegExp(`^(0|[1-9]\\d{0,15})-(${PET_STATUSES.join('|')})$`)

/** The tag of an entry: its state and nothing else, so it is the same on every instance and after a restart. */
export function entryTag({ quantity, status }: EntryState): string {
  return `"${quantity}-${status}"`
}

/**
 * The states that an If-Match header allows; `undefined` where it allows any. A weak tag matches nothing here, and
 * neither does one that is none of ours.
 */
export function statesIn(ifMatch: string | null): readonly EntryState[] | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined
  const states: EntryState[] = []
  let tags = 0
  LISTED_TAG.lastIndex = 0
  while (LISTED_TAG.lastIndex < ifMatch.length) {
    const found = LISTED_TAG.exec(ifMatch)
    if (found === null) throw malformed(ifMatch)
    const [, weak, tag] = found
    if (tag !== undefined) tags++
    const state = weak === undefined && tag !== undefined ? stateOf(tag) : undefined
    if (state !== undefined) states.push(state)
  }
  if (tags === 0) throw malformed(ifMatch)
  return states
}

function stateOf(tag: string): EntryState | undefined {
  const [, digits, name] = OWN_TAG.exec(tag) ?? []
  const quantity = Number(digits)
  const status = PET_STATUSES.find((one) => one === name)
  return status === undefined || quantity > MAX_QUANTITY ? undefined : { quantity, status }
}

function malformed(ifMatch: string): ServiceError {
  const got = JSON.stringify(ifMatch.length > 40 ? `${ifMatch.slice(0, 40)}…` : ifMatch)
  return new ServiceError(
    'invalid_request',
    `If-Match must be *, or ETags in double quotes with commas between them such as "12-available", got ${got}`,
  )
}
