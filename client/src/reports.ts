import type { IdKind } from './ids.ts'
import type { CallOptions } from './options.ts'
import { type Api, type Query, splitOptions } from './request.ts'

export type Reports<Ids extends IdKind> = ReturnType<typeof createReports<Ids>>

/** Sums over the history of the stock. */
export function createReports<Ids extends IdKind>(api: Api<Ids>) {
  return {
    /** The units received, sold, returned, counted and so on, net of reversals; by default those of the current day. */
    movements: (options: Query<'getMovementReport'> & CallOptions = {}) => {
      const { query, callOptions } = splitOptions(options)
      return api.value('getMovementReport', { query }, callOptions)
    },
  }
}
