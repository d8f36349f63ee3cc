import { type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useSession } from '../session/session-context.ts'
import { setLowStockThreshold, useLowStockThreshold } from '../stock/low-stock.ts'
import { useReadable } from '../stock/observable.ts'
import { readQuantity } from './quantity-editor.tsx'
import { undoAndTell } from './save-and-tell.ts'
import { STATUSES } from './table-state.ts'
import type { TableActions } from './use-table.ts'

interface Props {
  readonly table: TableActions
  readonly search: RefObject<HTMLInputElement | null>
  /** Not before the names are there: the file could not be imported without them. */
  readonly canExport: boolean
  readonly onExport: () => void
  readonly onHelp: () => void
  /** Puts the focus into the table. */
  readonly onEnterTable: () => void
}

export function Toolbar({ table, search, canExport, onExport, onHelp, onEnterTable }: Props) {
  const session = useSession()
  const { filter } = useReadable(session.table)
  const undoable = useReadable(session.undo).length > 0
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && filter.query !== '') table.changeFilter({ query: '' })
    else if (event.key === 'Enter' || event.key === 'ArrowDown') onEnterTable()
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
          placeholder="Search name or id"
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
      <LowStockFilter isOn={filter.lowOnly} onChange={(lowOnly) => table.changeFilter({ lowOnly })} />
      <div className="toolbar__tools">
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

interface LowStockFilterProps {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

function LowStockFilter({ isOn, onChange }: LowStockFilterProps) {
  const threshold = useLowStockThreshold()
  const [draft, setDraft] = useState<string>()
  const id = useId()
  const take = (text: string) => {
    setDraft(text)
    const value = readQuantity(text)
    if (value !== undefined) setLowStockThreshold(value)
  }
  return (
    <div className="toolbar__low">
      <label className="toolbar__low-label">
        <input
          type="checkbox"
          className="checkbox"
          checked={isOn}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        Low stock
      </label>
      <label htmlFor={id} className="muted">
        up to
        <span className="visually-hidden"> how many counts as low</span>
      </label>
      <input
        id={id}
        className="input toolbar__threshold number"
        inputMode="numeric"
        value={draft ?? String(threshold)}
        aria-invalid={draft !== undefined && readQuantity(draft) === undefined}
        onChange={({ currentTarget }) => take(currentTarget.value)}
        onBlur={() => setDraft(undefined)}
      />
    </div>
  )
}
