import type { IdKind } from './ids.ts'
import type { CallOptions } from './options.ts'
import type { Api, Query } from './request.ts'

export type ImportOptions = Query<'importFile'> & CallOptions

export type Imports = ReturnType<typeof createImports>

/** A large file takes minutes. */
const TIMEOUT_MS = 600_000

/** Files of pets, categories, orders and counts. */
export function createImports<Ids extends IdKind>(api: Api<Ids>) {
  return {
    /**
     * Imports the text of a CSV file, all of its rows or none. Never sent again by itself, because rows without an id could create
     * their pets twice.
     */
    file: (
      csv: string,
      {
        signal,
        timeout = TIMEOUT_MS,
        totalTimeout = TIMEOUT_MS,
        headers,
        retries = 0,
        ...query
      }: ImportOptions = {},
    ) => api.value('importFile', { body: csv, query }, { signal, timeout, totalTimeout, headers, retries }),
  }
}
