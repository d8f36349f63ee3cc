import { MAX_LENGTHS, type Order } from '@petstore/client'
import { type ComponentProps, lazy, Suspense, useMemo, useRef, useState } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { failureWords } from '../data/failure-words.ts'
import { useLiveList } from '../data/live-list.ts'
import { useReadable } from '../data/observable.ts'
import { OPEN_ORDERS, orderSource } from '../data/orders/order-search.ts'
import { freeUnits } from '../data/stock/free-units.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { showToast } from '../data/toasts.ts'
import type { Refusal } from '../data/work/work-document.ts'
import { AmountInput } from '../quantity/amount-input.tsx'
import { type FinderMessage, PetFinder, type PetFinderHandle } from '../scanner/pet-finder.tsx'
import type { KeyOwner } from '../session/session.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { Button } from '../ui/button.tsx'
import { ask, askToDiscard } from '../ui/confirm.tsx'
import { TextField } from '../ui/field.tsx'
import { Empty } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { useScan } from '../ui/scanner.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import { CameraScan, hasBarcodeCamera } from './camera-scan.tsx'
import doneBarcode from './done-barcode.svg'
import { type Till, tillOf } from './till.ts'
import './sell.css'

/** The text of the printed barcode that ends a sale, see done-barcode.svg. */
const DONE = 'DONE-1'

const OrderDialog = lazy(async () => ({
  default: (await import('../order-rows/order-dialog.tsx')).OrderDialog,
}))
const ReturnDialog = lazy(async () => ({ default: (await import('./return-dialog.tsx')).ReturnDialog }))
const PickUpDialog = lazy(async () => ({ default: (await import('./pick-up-dialog.tsx')).PickUpDialog }))

/** The till: scan, scan, scan, sell. */
export function SellView() {
  return (
    <section className="view" aria-label="Sell">
      <WorkFrame>{(owner) => <OpenTill owner={owner} />}</WorkFrame>
    </section>
  )
}

type OpenDialog = 'reserve' | 'return' | 'pick-up' | 'camera'

function OpenTill({ owner }: { readonly owner: KeyOwner }) {
  const till = tillOf(useSession(), owner)
  const { lines: quantities, head, refusal } = useReadable(till)
  const isKept = useReadable(till.isKept)
  // The latest first.
  const lines = Array.from(quantities, ([petId, quantity]) => ({ petId, quantity })).reverse()
  const mayOrder = useMayChange('orders')
  const [dialog, setDialog] = useState<OpenDialog>()
  const [message, setMessage] = useState<FinderMessage>()
  const finder = useRef<PetFinderHandle>(null)
  const pieces = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  /** The last pick. The amount of its line has the focus. */
  const [picked, setPicked] = useState<{ readonly petId: bigint }>()
  // On a touch screen the keyboard would cover half of the view.
  const hasKeyboard = matchMedia('(pointer: fine)').matches
  const pick = (petId: bigint) => {
    till.add(petId)
    if (hasKeyboard) setPicked({ petId })
  }
  const sell = () => {
    // An amount that was typed without Enter is saved.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    if (hasKeyboard) finder.current?.focus()
    void till.sell()
  }
  const onScan = (barcode: string) => {
    if (barcode === DONE) sell()
    else finder.current?.findBarcode(barcode)
  }
  useScan(onScan)
  const discard = async () => {
    const removed = `${petsWords(lines.length)} will be removed from the list. Nothing was sold.`
    if (await askToDiscard('Discard this sale?', removed)) till.clear()
  }
  const close = () => setDialog(undefined)
  return (
    <>
      <div className="cluster view__head">
        <h1>Sell</h1>
        {hasBarcodeCamera() && <Button onClick={() => setDialog('camera')}>Scan with the camera</Button>}
        {mayOrder && <Button onClick={() => setDialog('pick-up')}>Pick up…</Button>}
        <Button onClick={() => setDialog('return')}>Return…</Button>
      </div>
      <div className="card card__body stack">
        <PetFinder
          ref={finder}
          label="Scan or search"
          hint="Each scan adds one piece. Type how many, and press Enter."
          message={message}
          onMessage={setMessage}
          onPick={pick}
        />
      </div>
      {!isKept && (
        <p className="notice notice--caution" role="alert">
          This browser has no room to keep the sale. Sell before you close or reload the page.
        </p>
      )}
      <div className="card">
        {lines.length === 0 ? (
          <Empty title="Nothing scanned yet">
            <p>Scan what the customer buys. The code below ends a sale without a hand on the keyboard.</p>
            <img className="sell__done" src={doneBarcode} alt={`Barcode ${DONE}, which ends a sale`} />
          </Empty>
        ) : (
          <>
            {refusal !== undefined && (
              <p className="notice notice--negative" role="alert">
                {refusalText(refusal, lines.length)}
              </p>
            )}
            <ul aria-label="This sale">
              {lines.map((line) => (
                <CartLine
                  key={String(line.petId)}
                  till={till}
                  line={line}
                  focusFor={picked?.petId === line.petId ? picked : undefined}
                  onEnter={() => finder.current?.focus()}
                  onScan={onScan}
                />
              ))}
            </ul>
            <div className="card__footer sell__foot">
              <TextField
                label="Receipt"
                value={head.receipt}
                maxLength={MAX_LENGTHS.InventoryAdjustment.reference}
                onChange={(text) => till.setReceipt(text)}
              />
              <div className="cluster cluster--end">
                <Button tone="quiet" onClick={() => void discard()}>
                  Discard
                </Button>
                {mayOrder && <Button onClick={() => setDialog('reserve')}>Reserve…</Button>}
                <Button tone="primary" className="sell__button" onClick={sell}>
                  Sell {piecesWords(pieces)}
                </Button>
              </div>
            </div>
          </>
        )}
      </div>
      <Suspense fallback={null}>
        {dialog === 'reserve' && <OrderDialog lines={lines} onSaved={() => till.next()} onClose={close} />}
        {dialog === 'return' && <ReturnDialog onClose={close} />}
        {dialog === 'pick-up' && <PickUpDialog onClose={close} />}
        {dialog === 'camera' && <CameraScan onScan={onScan} onClose={close} />}
      </Suspense>
    </>
  )
}

/** Why nothing was sold. The lines of several pets have their own reasons. */
function refusalText({ message, pets: refused }: Refusal, lines: number): string {
  const [only] = refused
  if (only === undefined) return `Not sold. ${message}`
  if (lines === 1) return `Not sold: ${only.why.charAt(0).toLowerCase()}${only.why.slice(1)}`
  const pets =
    refused.length === 1 ? 'the marked pet' : `the ${refused.length.toLocaleString('en')} marked pets`
  return `Nothing was sold. Change or remove ${pets}, then sell again.`
}

interface CartLineProps extends Pick<ComponentProps<typeof AmountInput>, 'focusFor' | 'onEnter' | 'onScan'> {
  readonly till: Till
  readonly line: { readonly petId: bigint; readonly quantity: number }
}

function CartLine({ till, line: { petId, quantity }, ...amountField }: CartLineProps) {
  const { stock } = useSession()
  useStock()
  const row = stock.lookUp(petId)
  const name = row?.name ?? `Pet ${petId}`
  const refusal = useReadable(till).refusal?.pets.find((refused) => refused.petId === petId)
  return (
    <li className="list-row amount-row" aria-label={name}>
      <span>
        <a className="list-row__name" href={href({ view: 'pet', petId })}>
          {name}
        </a>{' '}
        {row !== undefined && <FreeUnits row={row} wanted={quantity} />}
      </span>
      <AmountInput
        label={`How many ${name}`}
        amount={quantity}
        onChange={(wanted) => till.setQuantity(petId, wanted)}
        {...amountField}
      />
      <Button
        tone="quiet"
        icon="close"
        aria-label={`Remove ${name}`}
        onClick={() => till.setQuantity(petId, 0)}
      />
      {refusal !== undefined && (
        <div className="cluster negative sell-line__refusal" role="alert">
          <Icon name="warning" />
          <span>{refusal.why}</span>
          {quantity > (refusal.free ?? 0) && (
            <ReservedFor petId={petId} missing={quantity - (refusal.free ?? 0)} />
          )}
        </div>
      )}
    </li>
  )
}

function FreeUnits({ row, wanted }: { readonly row: StockRow; readonly wanted: number }) {
  const { reserved } = row
  const free = freeUnits(row)
  return (
    <span className={free < wanted ? 'negative number' : 'muted number'}>
      {Math.max(0, free).toLocaleString('en')} free
      {reserved > 0 && `, ${reserved.toLocaleString('en')} reserved`}
    </span>
  )
}

interface ReservedForProps {
  readonly petId: bigint
  /** How many units of the pet the sale lacks. */
  readonly missing: number
}

/** For whom a pet is reserved, with an offer to take the units from that order. */
function ReservedFor({ petId, missing }: ReservedForProps) {
  const { client, feed } = useSession()
  const mayOrder = useMayChange('orders')
  const orders = useLiveList(
    useMemo(
      () => orderSource({ client, events: feed.orders }, { ...OPEN_ORDERS, petId }),
      [client, feed, petId],
    ),
  )
  const { rows } = orders.get()
  if (rows.length === 0) return null
  const take = async (order: Order) => {
    const rest = linesWithout(order, petId, missing)
    const isSure = await ask({
      title: `Take from the order of ${customerOf(order)}?`,
      text: [
        rest.length === 0
          ? `Order ${order.id} will be cancelled, and its units can be sold.`
          : `Order ${order.id} keeps its other units.`,
        'Nobody is informed. Tell the customer.',
      ],
      yes: 'Take them',
      no: 'Keep the order',
    })
    if (!isSure) return
    try {
      if (rest.length === 0) await client.orders.cancel(order.id)
      else await client.orders.update(order.id, { lines: rest })
      showToast({
        name: 'order',
        text: `Order ${order.id} is ${rest.length === 0 ? 'cancelled' : 'changed'}. Sell again.`,
      })
    } catch (error) {
      showToast({ name: 'order', tone: 'negative', text: failureWords(error) })
    }
    void orders.reload()
  }
  return (
    <ul className="sell-line__orders">
      {rows.map((order) => (
        <li key={String(order.id)} className="cluster">
          <span>
            {unitsOf(order, petId).toLocaleString('en')} reserved for {customerOf(order)}
          </span>
          {mayOrder && (
            <Button size="small" onClick={() => void take(order)}>
              Take from this order…
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The lines of the order after `units` of the pet `taken` have left it. */
function linesWithout({ lines }: Order, taken: bigint, units: number) {
  return lines
    .map(({ petId, quantity }) => ({ petId, quantity: petId === taken ? quantity - units : quantity }))
    .filter(({ quantity }) => quantity > 0)
}

function unitsOf({ lines }: Order, petId: bigint): number {
  return lines.find((line) => line.petId === petId)?.quantity ?? 0
}

function customerOf({ customer, id }: Order): string {
  return customer ?? `order ${id}`
}
