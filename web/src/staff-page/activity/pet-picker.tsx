import { type KeyboardEvent, useId, useState } from 'react'
import { searchTerms } from '../data/stock/search-text.ts'
import type { StockModel, StockRow } from '../data/stock/stock-model.ts'

interface Props {
  readonly label: string
  readonly petId: bigint | undefined
  readonly stock: StockModel
  readonly onPick: (petId: bigint | undefined) => void
}

const MAX_SHOWN = 8

/** One pet, found by typing a part of its name or its id: a combobox whose list is of the pets that the page knows. */
export function PetPicker({ label, petId, stock, onPick }: Props) {
  const id = useId()
  const [typed, setTyped] = useState<string>()
  const [active, setActive] = useState(0)
  const shown = typed ?? (petId === undefined ? '' : nameOf(stock, petId))
  const found = typed === undefined ? [] : petsLike(stock.get().rows, typed)
  const isOpen = found.length > 0
  const pick = (row: StockRow | undefined) => {
    onPick(row?.petId)
    setTyped(undefined)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' && isOpen) setActive((active + 1) % found.length)
    else if (event.key === 'ArrowUp' && isOpen) setActive((active + found.length - 1) % found.length)
    else if (event.key === 'Enter' && isOpen) pick(found[active])
    else if (event.key === 'Escape') pick(undefined)
    else return
    event.preventDefault()
  }
  return (
    <div className="field pet-picker">
      <label className="field__label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className="input"
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        placeholder="Any"
        autoComplete="off"
        value={shown}
        onChange={({ currentTarget: { value } }) => {
          setActive(0)
          setTyped(value)
          if (value.trim() === '') onPick(undefined)
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTyped(undefined)}
      />
      <div
        id={`${id}-list`}
        className="pet-picker__list"
        role="listbox"
        aria-label={`${label}s found`}
        hidden={!isOpen}
      >
        {found.map((row, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the field do the same
          <div
            key={String(row.petId)}
            id={`${id}-${index}`}
            className="pet-picker__option"
            role="option"
            aria-selected={index === active}
            // Before the field loses the focus and the list goes.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(row)}
          >
            {row.name ?? `Pet ${row.petId}`}
            <span className="muted number"> {String(row.petId)}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

function nameOf(stock: StockModel, petId: bigint): string {
  return stock.find(petId)?.name ?? `Pet ${petId}`
}

function petsLike(rows: readonly StockRow[], typed: string): readonly StockRow[] {
  const terms = searchTerms(typed)
  const found: StockRow[] = []
  if (terms.length === 0) return found
  for (const row of rows) {
    if (!terms.every((term) => row.searchText.includes(term))) continue
    found.push(row)
    if (found.length === MAX_SHOWN) break
  }
  return found
}
