import type { KeyboardEvent, RefObject } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { STATUSES } from '../data/stock/table-state.ts'
import { undoAndTell } from '../quantity/save-and-tell.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import type { TableActions } from './use-table.ts'

interface Props {
  readonly table: TableActions
  readonly search: RefObject<HTMLInputElement | null>
  /** Not before the names are there: the file could not be imported without them. */
  readonly canExport: boolean
  readonly onExport: () => void
  readonly onHelp: () => void
  /** Goes to the first row that is found. */
  readonly onFind: () => void
}

export function Toolbar({ table, search, canExport, onExport, onHelp, onFind }: Props) {
  const session = useSession()
  const { filter } = useReadable(session.table)
  const mayChange = useMayChange('stock')
  const undoable = useReadable(session.undo).length > 0
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && filter.query !== '') table.changeFilter({ query: '' })
    else if (event.key === 'Enter' || event.key === 'ArrowDown') onFind()
    else return
    event.preventDefault()
  }
  return (
    <div className="toolbar">
      <div className="toolbar__search">
        <Icon name="search" />
        <input
          ref={search}
          className="input"
          type="search"
          aria-label="Search by name or id"
          placeholder="Search name, id or barcode"
          aria-keyshortcuts="/"
          value={filter.query}
          onChange={({ currentTarget }) => table.changeFilter({ query: currentTarget.value })}
          onKeyDown={onKeyDown}
        />
      </div>
      <fieldset className="segmented">
        <legend className="visually-hidden">Status</legend>
        {(['all', ...STATUSES] as const).map((status) => (
          <button
            key={status}
            type="button"
            className="segmented__option"
            aria-pressed={filter.status === status}
            onClick={() => table.changeFilter({ status })}
          >
            {status === 'all' ? 'All' : status[0]?.toUpperCase() + status.slice(1)}
          </button>
        ))}
      </fieldset>
      <label className="toolbar__low">
        <input
          type="checkbox"
          className="checkbox"
          checked={filter.lowOnly}
          onChange={({ currentTarget }) => table.changeFilter({ lowOnly: currentTarget.checked })}
        />
        Low stock
      </label>
      <div className="toolbar__tools">
        {mayChange && (
          <button
            type="button"
            className="button"
            disabled={!undoable}
            aria-keyshortcuts="Control+Z"
            onClick={() => void undoAndTell(session)}
          >
            <Icon name="undo" />
            <span className="toolbar__tool-name">Undo</span>
          </button>
        )}
        <button
          type="button"
          className="button"
          disabled={!canExport}
          title={canExport ? undefined : 'The names are still loading'}
          onClick={onExport}
        >
          <Icon name="download" />
          <span className="toolbar__tool-name">Export CSV</span>
        </button>
        <button
          type="button"
          className="button button--quiet button--icon toolbar__keys"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        >
          <Icon name="keyboard" />
        </button>
      </div>
    </div>
  )
}
