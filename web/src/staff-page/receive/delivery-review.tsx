import { MAX_LENGTHS } from '@petstore/client'
import { type FormEvent, useEffect, useRef } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { askImplausible } from '../quantity/ask-implausible.ts'
import { findScanned } from '../scanner/scan-layer.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { href } from '../ui/navigation.ts'
import { PetTableHead } from '../ui/pet-table-head.tsx'
import { useScan } from '../ui/scanner.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import { type DeliveryDraft, piecesOf } from './delivery-draft.ts'

interface Props {
  readonly delivery: DeliveryDraft
  readonly onBack: () => void
}

/** The whole delivery with the stock after it, before it is booked. A scan adds one more pet. */
export function DeliveryReview({ delivery, onBack }: Props) {
  const session = useSession()
  const { lines, head } = useReadable(delivery)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useScan((barcode) => {
    void findScanned(session, barcode, (petId) => {
      if (delivery.open(petId) === undefined) onBack()
    })
  })
  const book = async () => {
    const implausible = [...lines].filter(([petId, amount]) => delivery.isImplausible(petId, amount))
    const questions = implausible.map(([petId, amount]) => {
      const row = session.stock.find(petId)
      const quantity = (row?.quantity ?? 0).toLocaleString('en')
      return `${row?.name ?? `Pet ${petId}`}: ${piecesWords(amount)}, with ${quantity} in stock.`
    })
    if (!(await askImplausible(questions, 'Receive them'))) return
    onBack()
    void delivery.book()
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void book()
  }
  return (
    <form className="card" onSubmit={onSubmit} aria-label="Review the delivery">
      <div className="card__header receive__booking cluster--fields">
        <TextField
          field={field}
          className="grow"
          label="Reference"
          placeholder="Delivery note or order, such as PO-1043"
          maxLength={MAX_LENGTHS.InventoryAdjustment.reference}
          value={head.reference}
          onChange={(reference) => delivery.setReference(reference)}
        />
        <span className="cluster">
          <Button onClick={onBack}>Back</Button>
          <Button type="submit" tone="primary">
            Receive {piecesWords(piecesOf(lines))} of {petsWords(lines.size)}
          </Button>
        </span>
      </div>
      <DeliveryTable delivery={delivery} />
    </form>
  )
}

function DeliveryTable({ delivery }: { readonly delivery: DeliveryDraft }) {
  const { stock } = useSession()
  const { lines } = useReadable(delivery)
  useStock()
  return (
    <table className="table work-table">
      <PetTableHead figures={['In stock', 'Arrived', 'Then']} />
      <tbody>
        {[...lines].reverse().map(([petId, amount]) => {
          const row = stock.lookUp(petId)
          const quantity = row?.quantity ?? 0
          return (
            <tr key={String(petId)}>
              <td>
                <a className="list-row__name" href={href({ view: 'pet', petId })}>
                  {row?.name ?? `Pet ${petId}`}
                </a>{' '}
                {delivery.isImplausible(petId, amount) && (
                  <span className="badge badge--caution">Unusually many</span>
                )}
              </td>
              <td className="table__number">{quantity.toLocaleString('en')}</td>
              <td className="table__number">+{amount.toLocaleString('en')}</td>
              <td className="table__number">
                <strong>{(quantity + amount).toLocaleString('en')}</strong>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
