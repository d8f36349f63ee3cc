import { useId } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { COLUMN_NAMES, type SortColumn } from '../data/stock/table-state.ts'
import { useSession } from '../session/session-context.ts'
import type { TableActions } from './use-table.ts'

/** Sorts where there is no room for a header with the columns. */
export function SortChoice({ table }: { readonly table: TableActions }) {
  const { sort } = useReadable(useSession().table)
  const id = useId()
  return (
    <div className="sort-choice">
      <label htmlFor={id} className="muted">
        Sort by
      </label>
      <select
        id={id}
        className="select"
        value={sort.column}
        onChange={({ currentTarget }) => table.sortBy(currentTarget.value as SortColumn)}
      >
        {Object.entries(COLUMN_NAMES).map(([column, name]) => (
          <option key={column} value={column}>
            {name}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="button button--icon"
        aria-label={sort.isDescending ? 'Descending. Sort ascending' : 'Ascending. Sort descending'}
        onClick={() => table.sortBy(sort.column)}
      >
        <Icon name={sort.isDescending ? 'descending' : 'ascending'} />
      </button>
    </div>
  )
}
