import { type KeyboardEvent, type Ref, useId, useImperativeHandle, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Icon } from '../../design/icon.tsx'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { petNamed, petsLike, scannedIn } from './find-pets.ts'
import './finding.css'

export interface PetFinderHandle {
  focus(): void
  /** As if this had been typed there, and Enter pressed. */
  take(text: string): void
}

interface Props {
  readonly ref: Ref<PetFinderHandle>
  readonly label: string
  readonly onPick: (row: StockRow) => void
  /** Told of what it found nothing for, in words; `undefined` once something else is looked for. */
  readonly onUnknown: (words: string | undefined) => void
}

const MAX_OPTIONS = 8

/** Where a barcode is scanned, or a pet is looked for by its name or id. Enter takes the first that fits. */
export function PetFinder({ ref, label, onPick, onUnknown }: Props) {
  const { stock } = useSession()
  const { hasNames } = useStock()
  const [text, setText] = useState('')
  const [active, setActive] = useState<number>()
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const options = text.trim() === '' ? [] : petsLike(stock, text, MAX_OPTIONS)

  const pick = (row: StockRow) => {
    change('')
    onPick(row)
  }
  const take = (wanted: string) => {
    const scanned = scannedIn(stock, wanted)
    const named = petNamed(stock, wanted) ?? (scanned && petNamed(stock, scanned.barcode))
    // A code that nobody knows is not a part of some other pet's id.
    const row = named ?? (scanned === undefined ? petsLike(stock, wanted, 1)[0] : undefined)
    if (row !== undefined) return pick(row)
    // The next scan, or another word, takes its place: what it types may come at once.
    flushSync(() => {
      setText(wanted)
      onUnknown(unknownWords(wanted.trim(), hasNames))
    })
    field.current?.focus()
    field.current?.select()
  }
  const change = (changed: string) => {
    setText(changed)
    setActive(undefined)
    onUnknown(undefined)
  }
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus(), take }))

  const onKeyDown = (event: KeyboardEvent) => {
    const move = MOVES[event.key]
    if (event.key === 'Enter') {
      const chosen = active === undefined ? undefined : options[active]
      if (chosen !== undefined) pick(chosen)
      else if (text.trim() !== '') take(text)
    } else if (event.key === 'Escape' && text !== '') change('')
    else if (move !== undefined && options.length > 0) {
      const from = active ?? (move > 0 ? -1 : 0)
      setActive((from + move + options.length) % options.length)
    } else return
    event.preventDefault()
  }
  return (
    <div className="finder">
      <label className="field__label" htmlFor={`${id}-field`}>
        {label}
      </label>
      <div className="finder__field">
        <Icon name="search" />
        <input
          ref={field}
          id={`${id}-field`}
          className="input"
          type="text"
          role="combobox"
          aria-expanded={options.length > 0}
          aria-controls={`${id}-options`}
          aria-autocomplete="list"
          aria-activedescendant={active === undefined ? undefined : `${id}-${active}`}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="next"
          placeholder={hasNames ? 'Barcode, name or id' : 'Names and barcodes are loading'}
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        id={`${id}-options`}
        className="finder__options"
        role="listbox"
        aria-label="Pets that fit"
        hidden={options.length === 0}
      >
        {options.map((row, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={String(row.petId)}
            id={`${id}-${index}`}
            className="finder__option"
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // Before the field loses the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(row)}
          >
            <span className="finder__name">{row.name ?? `Pet ${row.petId}`}</span>
            <span className="muted number">{String(row.petId)}</span>
            <span className="muted number finder__stock">{row.quantity.toLocaleString('en')} in stock</span>
          </div>
        ))}
      </div>
    </div>
  )
}

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

function unknownWords(wanted: string, hasNames: boolean): string {
  if (!hasNames) return 'Names and barcodes are still loading. Try it again in a moment.'
  if (/^\d{6,}$/.test(wanted)) {
    return `No pet has the barcode ${wanted}. Search for it by name, or go on with the next one.`
  }
  return `No pet fits “${wanted}”. Try a part of its name, or its id.`
}
