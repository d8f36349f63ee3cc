export type SqlValue = bigint | number | string | boolean | null

/** A statement that both databases understand; `$1` stands for its first value. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** What the verbs that both databases share are written on. */
export interface SqlDatabase {
  rows<Row>(text: string, values?: readonly SqlValue[]): Promise<Row[]>
}
