import { VALUES } from '@petstore/client'
import { useId, useRef, useState } from 'preact/compat'
import { byName } from '../data/catalog/category-list.ts'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { saveCsv } from '../data/save-csv.ts'
import { searchQueryOf } from '../data/stock/stock-search.ts'
import { COLUMN_NAMES, type SortColumn } from '../data/stock/table-state.ts'
import { showProblem, showToast } from '../data/toasts.ts'
import { undoLastChange } from '../quantity/save-change.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import type { TableActions } from './use-table.ts'

interface Props {
  readonly table: TableActions
  readonly onHelp: () => void
  readonly onFind: () => void
}

const STATUS_OPTIONS = (['all', ...VALUES.PetStatus] as const).map((value) => ({
  value,
  label: `${value[0]?.toUpperCase()}${value.slice(1)}`,
}))

export function Toolbar({ table, onHelp, onFind }: Props) {
  const session = useSession()
  const { filter } = useReadable(session.table)
  const categories = useReadable(session.categories)
  const mayChange = useMayChange('stock')
  const isUndoable = useReadable(session.undo).length > 0
  const search = useRef<HTMLInputElement>(null)
  const { isExporting, exportAll } = useExport()
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.target !== search.current || (event.key !== 'Enter' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    onFind()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the search field
    <div className="toolbar" onKeyDown={onSearchKey}>
      <SearchField
        label="Search by name or id"
        placeholder="Search name, id or barcode"
        value={filter.query}
        onChange={(query) => table.changeFilter({ query })}
        field={search}
      />
      <SegmentedControl
        label="Status"
        options={STATUS_OPTIONS}
        value={filter.status}
        onChange={(status) => table.changeFilter({ status })}
      />
      <select
        className="select toolbar__category"
        aria-label="Category"
        value={String(filter.categoryId ?? '')}
        onChange={({ currentTarget: { value } }) =>
          table.changeFilter({ categoryId: value === '' ? undefined : BigInt(value) })
        }
      >
        <option value="">All categories</option>
        {byName(categories).map(({ id, name }) => (
          <option key={String(id)} value={String(id)}>
            {name}
          </option>
        ))}
      </select>
      <label className="cluster">
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
          <Button
            icon="undo"
            isDisabled={!isUndoable}
            aria-keyshortcuts="Control+Z"
            onClick={() => void undoLastChange(session)}
          >
            <span className="toolbar__tool-name">Undo</span>
          </Button>
        )}
        <Button icon="download" isBusy={isExporting} onClick={() => void exportAll()}>
          <span className="toolbar__tool-name">Export CSV</span>
        </Button>
        <Button
          icon="keyboard"
          tone="quiet"
          className="toolbar__keys"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        />
      </div>
    </div>
  )
}

/** Exports all pets that match the filter, also those that are not loaded. */
function useExport() {
  const { client, table } = useSession()
  const [isExporting, setExporting] = useState(false)
  const exportAll = async () => {
    const { filter, sort } = table.get()
    setExporting(true)
    try {
      const text = await client.inventory.searchCsv(searchQueryOf(filter, sort))
      saveCsv(`stock-${new Date().toISOString().slice(0, 10)}.csv`, text)
      showToast({ name: 'export', text: BARCODE_ADVICE })
    } catch (error) {
      showProblem('export', `The pets could not be exported. ${failureWords(error)}`)
    }
    setExporting(false)
  }
  return { isExporting, exportAll }
}

const BARCODE_ADVICE =
  'The pets are exported. Excel alters long barcodes (4.00638E+12) unless you open the file with Data, From text, and set the barcode column to text.'

/** Sorts on screens that are too narrow for a header with the columns. */
export function SortChoice({ table }: { readonly table: TableActions }) {
  const { sort } = useReadable(useSession().table)
  const id = useId()
  return (
    <div className="cluster toolbar__sort">
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
      <Button
        icon={sort.isDescending ? 'descending' : 'ascending'}
        aria-label={sort.isDescending ? 'Descending. Sort ascending' : 'Ascending. Sort descending'}
        onClick={() => table.sortBy(sort.column)}
      />
    </div>
  )
}

const KEY_HELP: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['Enter', '↓'], 'Save the quantity and go to the next pet'],
  [['↑'], 'Save the quantity and go to the pet above'],
  [['+12', '−3'], 'That many more or fewer, whatever others change meanwhile'],
  [['Esc'], 'Keep the old quantity; clear the selection'],
  [['Space'], 'Select the row'],
  [['Ctrl', 'Z'], 'Undo the last change'],
  [['/'], 'Search; Enter there goes to the first row found, by an exact id or barcode first'],
  [['?'], 'Show these keys'],
]

export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      {(close) => (
        <>
          <table className="table">
            <tbody>
              {KEY_HELP.map(([keys, does]) => (
                <tr key={does}>
                  <th scope="row">
                    {keys.map((key) => (
                      <kbd key={key} className="key">
                        {key}
                      </kbd>
                    ))}
                  </th>
                  <td>{does}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <div className="dialog__actions">
            <Button onClick={close}>Close</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
