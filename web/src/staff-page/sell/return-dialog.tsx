import { type Adjustment, MAX_LENGTHS } from '@petstore/client'
import { useEffect, useMemo, useState } from 'preact/compat'
import { AdjustmentDialog } from '../adjustment/adjustment-dialog.tsx'
import { type ListPage, type ListSource, useLiveList } from '../data/live-list.ts'
import { useReadable } from '../data/observable.ts'
import { linesWords } from '../data/orders/order-words.ts'
import { momentWords } from '../data/time-words.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'

const SALES_PER_PAGE = 10
const SEARCH_AFTER_MS = 300

/** Takes back a sale, whole or in part: a list of recent sales, then the lines of one. */
export function ReturnDialog({ onClose }: { readonly onClose: () => void }) {
  const [saleId, setSaleId] = useState<bigint>()
  if (saleId !== undefined) return <AdjustmentDialog adjustmentId={saleId} isReturn onClose={onClose} />
  return <RecentSales onPick={setSaleId} onClose={onClose} />
}

interface RecentSalesProps {
  readonly onPick: (saleId: bigint) => void
  readonly onClose: () => void
}

function RecentSales({ onPick, onClose }: RecentSalesProps) {
  const { client, stock, keyNames } = useSession()
  const [receipt, setReceipt] = useState('')
  const typed = useDebounced(receipt.trim(), SEARCH_AFTER_MS)
  useStock()
  const list = useLiveList(
    useMemo((): ListSource<Adjustment> => {
      const load = (reference: string | undefined, cursor: string | undefined, signal: AbortSignal) =>
        client.adjustments.list({ reason: 'sold', reference, limit: SALES_PER_PAGE, cursor, signal })
      return {
        keyOf: ({ id }) => id,
        load: async (cursor, signal): Promise<ListPage<Adjustment>> => {
          if (typed === '') return load(undefined, cursor, signal)
          // The service compares receipts exactly, but people type them in any case.
          for (const reference of new Set([typed, typed.toUpperCase(), typed.toLowerCase()])) {
            const page = await load(reference, cursor, signal)
            if (page.items.length > 0) return page
          }
          return { items: [] }
        },
      }
    }, [client, typed]),
  )
  const { rows } = list.get()
  const names = useReadable(keyNames)
  useEffect(() => void keyNames.load(rows.map(({ keyId }) => keyId)), [keyNames, rows])
  return (
    <Dialog title="Return" closeLabel="Cancel" onClose={onClose}>
      <TextField
        label="Receipt"
        value={receipt}
        maxLength={MAX_LENGTHS.InventoryAdjustment.reference}
        autoFocus
        onChange={setReceipt}
      />
      <ListFrame label="Recent sales" list={list} empty={<NoSales receipt={typed} />}>
        {rows.map((sale) => (
          <li key={String(sale.id)} className="list-row sell__sale">
            <button type="button" className="list-row__name" onClick={() => onPick(sale.id)}>
              {sale.reference ?? 'Without a receipt'}
            </button>
            <span>{linesWords(soldUnits(sale), (petId) => stock.nameOf(petId))}</span>
            <span className="muted small">
              {momentWords(Date.parse(sale.occurredAt))}, {names.get(sale.keyId) ?? sale.keyId}
            </span>
            <TakenBack sale={sale} />
          </li>
        ))}
      </ListFrame>
    </Dialog>
  )
}

/** Says how many units of a sale were returned or undone. */
function TakenBack({ sale: { lines } }: { readonly sale: Adjustment }) {
  const { stock } = useSession()
  const takenBack = lines
    .filter(({ reversed }) => reversed > 0)
    .map(({ petId, reversed }) => ({ petId, quantity: reversed }))
  if (takenBack.length === 0) return null
  return <span className="small">Taken back: {linesWords(takenBack, (petId) => stock.nameOf(petId))}</span>
}

function soldUnits({ lines }: Adjustment) {
  return lines.map(({ petId, delta }) => ({ petId, quantity: -delta }))
}

function NoSales({ receipt }: { readonly receipt: string }) {
  return (
    <Empty title={receipt === '' ? 'Nothing was sold yet' : `No sale has the receipt ${receipt}.`}>
      <p>Sales of this shop are listed here, the latest first.</p>
    </Empty>
  )
}
