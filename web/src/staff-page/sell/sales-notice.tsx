import { useReadable } from '../data/observable.ts'
import { linesWords } from '../data/orders/order-words.ts'
import type { Sale } from '../data/sales/sale-queue.ts'
import type { KeyOwner } from '../session/session.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { askToDiscard } from '../ui/confirm.tsx'
import { piecesWords } from '../ui/words.ts'
import { type Till, tillOf } from './till.ts'

/** On every view: the sales that wait for the service, and those that a person has to decide on. */
export function SalesNotice() {
  const owner = useReadable(useSession().owner)
  const maySell = useMayChange('stock')
  return owner === undefined || !maySell ? null : <OpenSales owner={owner} />
}

function OpenSales({ owner }: { readonly owner: KeyOwner }) {
  const till = tillOf(useSession(), owner)
  const sales = useReadable(till.queue).filter((sale) => !till.queue.isBooking(sale))
  const waiting = sales.filter(({ refusal }) => refusal === undefined).length
  const refused = sales.filter(({ refusal }) => refusal !== undefined)
  return (
    <>
      {waiting > 0 && (
        <div className="notice notice--caution">
          {waiting === 1 ? '1 sale waits' : `${waiting.toLocaleString('en')} sales wait`} to be booked. Keep
          this page open until the service can be reached.
        </div>
      )}
      {refused.map((sale) => (
        <RefusedSale key={sale.id} till={till} sale={sale} />
      ))}
    </>
  )
}

function RefusedSale({ till, sale }: { readonly till: Till; readonly sale: Sale }) {
  const { stock } = useSession()
  const { receipt, lines, refusal } = sale
  const pieces = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const discard = async () => {
    const items = linesWords(lines, (petId) => stock.nameOf(petId))
    const isSure = await askToDiscard(
      `Discard sale ${receipt}?`,
      `It will not be booked: ${items}.`,
      'If the pets have left the shop, correct the stock by a count.',
    )
    if (isSure) till.queue.discard(sale)
  }
  return (
    <div className="notice notice--negative" role="alert">
      <span className="grow">
        <strong>
          Sale {receipt} of {piecesWords(pieces)} was not booked.
        </strong>{' '}
        {refusal?.message} {refusal?.pets.map(({ petId, why }) => `${stock.nameOf(petId)}: ${why}`).join(' ')}
      </span>
      <Button size="small" onClick={() => void till.queue.retry(sale)}>
        Try again
      </Button>
      <Button size="small" onClick={() => void discard()}>
        Discard
      </Button>
    </div>
  )
}
