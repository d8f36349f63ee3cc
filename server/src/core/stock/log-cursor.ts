const CURSOR = /^(0|[1-9]\d{0,17})\.([0-9a-f]{1,16})$/

/** A position in the log of one database. */
export interface LogCursor {
  readonly position: bigint
  readonly identity: string
}

export function toCursor({ position, identity }: LogCursor): string {
  return `${position}.${identity}`
}

/** Returns undefined if the text is not a cursor. */
export function fromCursor(text: string): LogCursor | undefined {
  const [, position, identity] = CURSOR.exec(text) ?? []
  return position === undefined || identity === undefined
    ? undefined
    : { position: BigInt(position), identity }
}

/** Compares only the positions, because promotions of a standby change the identity within one log. */
export function isEarlierCursor(one: string, other: string): boolean {
  const [first, second] = [fromCursor(one), fromCursor(other)]
  return first !== undefined && second !== undefined && first.position < second.position
}
