import type { Connection } from '../../src/store/postgres/connection.ts'
import type { SqlValue } from '../../src/store/sql.ts'

interface PlanNode {
  readonly Plans?: readonly PlanNode[]
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
}

export interface AskedStatement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** The number of rows of a table that PostgreSQL reads for a statement, whether it returns them or not. */
export async function countRowsRead(
  connection: Connection,
  table: string,
  { text, values }: AskedStatement,
): Promise<number> {
  const rows = await connection.rows<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    ...values,
  )
  const plans = rows.flatMap((row) => row['QUERY PLAN'])
  return plans.reduce((sum, { Plan }) => sum + rowsReadBelow(Plan, table), 0)
}

function rowsReadBelow(node: PlanNode, table: string): number {
  const own = Number(node['Actual Rows'] ?? 0) + Number(node['Rows Removed by Filter'] ?? 0)
  const ownRows = node['Relation Name'] === table ? own * Number(node['Actual Loops'] ?? 1) : 0
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsReadBelow(child, table), ownRows)
}
