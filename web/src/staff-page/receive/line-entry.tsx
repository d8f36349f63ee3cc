import { useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { scannedIn } from '../scanner/find-pets.ts'
import { type FinderMessage, PetFinder, type PetFinderHandle } from '../scanner/pet-finder.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import type { DeliveryDraft } from './delivery-draft.ts'

/** Scan or search a pet, type how many have arrived, continue with the next one. */
export function LineEntry({ delivery }: { readonly delivery: DeliveryDraft }) {
  const { stock } = useSession()
  useStock()
  const line = useReadable(delivery.openLine)
  const { lines } = useReadable(delivery)
  const [text, setText] = useState(() => String(line?.amount ?? 1))
  const [message, setMessage] = useState<FinderMessage>()
  const [problem, setProblem] = useState<string>()
  /** Each pick gets a new field, which takes the focus. */
  const [picks, setPicks] = useState(0)
  const finder = useRef<PetFinderHandle>(null)

  const close = () => {
    const closed = delivery.openLine.get()
    if (closed === undefined) return
    delivery.openLine.set(undefined)
    if (closed.amount === 0) return setMessage(undefined)
    const pieces = closed.amount.toLocaleString('en')
    setMessage({ text: `In the list: ${pieces} × ${stock.nameOf(closed.petId)}.`, isProblem: false })
  }
  const pick = (petId: bigint) => {
    close()
    const refusal = delivery.open(petId)
    setText('1')
    setProblem(undefined)
    setPicks(picks + 1)
    if (refusal !== undefined) setMessage({ text: refusal, isProblem: true })
  }
  const type = (typed: string) => {
    setText(typed)
    // Until the number is valid, the line has the one piece that was scanned.
    setProblem(delivery.setOpenAmount(readQuantity(typed) ?? 1))
  }
  const finish = () => {
    const amount = readQuantity(text)
    const refusal = amount === undefined ? 'Enter a whole number.' : delivery.setOpenAmount(amount)
    setProblem(refusal)
    if (refusal !== undefined) return
    close()
    finder.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const scanned = event.key === 'Enter' ? scannedIn(stock, text) : undefined
    if (scanned !== undefined) {
      type(scanned.before)
      finder.current?.findBarcode(scanned.barcode)
    } else if (event.key === 'Enter') finish()
    else if (event.key === 'Escape') {
      delivery.cancelOpenLine()
      setMessage(undefined)
      finder.current?.focus()
    } else return
    event.preventDefault()
  }
  return (
    <div className="card card__body stack">
      <PetFinder
        ref={finder}
        label="Scan or search"
        hint="Scan, type how many, press Enter. The same pet twice adds up."
        message={message}
        onMessage={setMessage}
        onPick={pick}
      />
      {line !== undefined && (
        <div className="cluster cluster--fields panel">
          <span className="grow receive__pet">
            <strong>{stock.nameOf(line.petId)}</strong>
            <span className="muted number">
              #{String(line.petId)} · {(stock.find(line.petId)?.quantity ?? 0).toLocaleString('en')} in stock
              · {(lines.get(line.petId) ?? 0).toLocaleString('en')} in the list below
            </span>
          </span>
          <TextField
            key={picks}
            field={focusAndSelect}
            className="receive__amount"
            label={`How many ${stock.nameOf(line.petId)} have arrived`}
            isNumber
            value={text}
            problem={problem}
            onChange={type}
            onKeyDown={onKeyDown}
          />
          <Button tone="primary" onClick={finish}>
            Next pet
          </Button>
        </div>
      )}
    </div>
  )
}

function focusAndSelect(field: HTMLInputElement | null): void {
  field?.focus()
  field?.select()
}
