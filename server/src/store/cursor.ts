const CURSOR = /^(0|[1-9]\d{0,17})\.([0-9a-f]{1,16})$/

/** A place in the log of one database. */
export interface LogCursor {
  readonly position: bigint
  readonly identity: string
}

export function toCursor({ position, identity }: LogCursor): string {
  return `${position}.${identity}`
}

/** Undefined where it is a text of another form. */
export function fromCursor(text: string): LogCursor | undefined {
  const [, position, identity] = CURSOR.exec(text) ?? []
  return position === undefined || identity === undefined
    ? undefined
    : { position: BigInt(position), identity }
}
