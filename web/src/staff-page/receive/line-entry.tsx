import { type KeyboardEvent, useCallback, useEffect, useId, useRef, useState } from 'react'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { scannedIn } from '../scanner/find-pets.ts'
import { PetFinder, type PetFinderHandle } from '../scanner/pet-finder.tsx'
import { useScan } from '../scanner/scanner.ts'
import { useTypingInto } from '../scanner/use-typing-into.ts'
import { useSession } from '../session/session-context.ts'
import type { DeliveryDesk } from './delivery-desk.ts'

/** Scan or search, how many, next. */
export function LineEntry({ desk }: { readonly desk: DeliveryDesk }) {
  const { stock } = useSession()
  const [chosen, setChosen] = useState<StockRow>()
  const [amount, setAmount] = useState('1')
  const [said, setSaid] = useState<{ readonly words: string; readonly isTrouble: boolean }>()
  const finder = useRef<PetFinderHandle>(null)
  const id = useId()
  const pieces = readQuantity(amount)
  const focusFinder = useCallback(() => finder.current?.focus(), [])
  useTypingInto(focusFinder)
  useScan((barcode) => {
    if (chosen === undefined || add(chosen, pieces)) finder.current?.take(barcode)
  })
  useEffect(() => {
    // On a touch screen the keyboard would cover half of it before anybody asked for it.
    if (matchMedia('(pointer: fine)').matches) focusFinder()
  }, [focusFinder])

  const choose = (row: StockRow) => {
    setChosen(row)
    setAmount('1')
  }
  /** Whether the chosen one is in the list now. */
  const add = (row: StockRow, count: number | undefined): boolean => {
    const refusal =
      count === undefined || count === 0 ? 'Enter a whole number of 1 or more.' : desk.add(row.petId, count)
    setSaid(
      refusal === undefined
        ? { words: `${count?.toLocaleString('en')} × ${nameOf(row)} added.`, isTrouble: false }
        : { words: refusal, isTrouble: true },
    )
    if (refusal !== undefined) return false
    setChosen(undefined)
    return true
  }
  const addAndGoOn = (count: number | undefined) => {
    if (chosen !== undefined && add(chosen, count)) focusFinder()
  }
  const onAmountKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      setChosen(undefined)
      setSaid(undefined)
      focusFinder()
    } else if (event.key === 'Enter' && chosen !== undefined) {
      const scanned = scannedIn(stock, amount)
      // The next one was scanned: what stood there before it is how many of this one there are.
      if (scanned === undefined) addAndGoOn(pieces)
      else if (add(chosen, scanned.before === '' ? 1 : readQuantity(scanned.before))) {
        finder.current?.take(scanned.barcode)
      }
    } else return
    event.preventDefault()
  }
  const isWrong = said?.isTrouble === true && chosen !== undefined
  return (
    <div className="card receive__entry">
      <PetFinder
        ref={finder}
        label="Scan or search"
        onPick={choose}
        onUnknown={(words) => setSaid(words === undefined ? undefined : { words, isTrouble: true })}
      />
      {chosen !== undefined && (
        <div className="receive__amount">
          <div className="receive__chosen">
            <strong>{nameOf(chosen)}</strong>
            <span className="muted number">
              {String(chosen.petId)} · {(stock.find(chosen.petId)?.quantity ?? 0).toLocaleString('en')} in
              stock
            </span>
          </div>
          <label className="visually-hidden" htmlFor={`${id}-amount`}>
            How many {nameOf(chosen)} have come
          </label>
          <input
            key={String(chosen.petId)}
            ref={selected}
            id={`${id}-amount`}
            className="input number receive__pieces"
            inputMode="numeric"
            autoComplete="off"
            enterKeyHint="next"
            value={amount}
            aria-invalid={isWrong}
            aria-describedby={`${id}-said`}
            onChange={({ currentTarget }) => setAmount(currentTarget.value)}
            onKeyDown={onAmountKey}
          />
          <button type="button" className="button button--primary" onClick={() => addAndGoOn(pieces)}>
            Add
          </button>
        </div>
      )}
      <p id={`${id}-said`} className={said?.isTrouble ? 'field__error' : 'field__hint'} role="status">
        {said?.words ?? 'Scan, type how many, press Enter. The same pet twice adds up.'}
      </p>
    </div>
  )
}

function nameOf({ name, petId }: StockRow): string {
  return name ?? `Pet ${petId}`
}

function selected(field: HTMLInputElement | null): void {
  field?.focus()
  field?.select()
}
