import { KeptWork, keptCount, keptFields, keptId, keptRows, keptText } from '../data/kept-work.ts'
import { lateWords } from '../data/late-words.ts'
import { State } from '../data/observable.ts'
import {
  newSale,
  type RefusedPet,
  type RefusedSale,
  type SaleLine,
  SaleQueue,
} from '../data/sales/sale-queue.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { reverseAdjustment } from '../data/stock/reversal.ts'
import { hideToast, showProblem, showToast } from '../data/toasts.ts'
import type { KeyOwner } from '../session/session.ts'
import { perSession } from '../session/work-frame.tsx'
import { piecesWords } from '../ui/words.ts'

interface TillState {
  /** The latest first. */
  readonly lines: readonly SaleLine[]
  readonly receipt: string
  /** Why the last try to sell these lines was refused. */
  readonly failure: string | undefined
  readonly refused: ReadonlyMap<bigint, RefusedPet>
}

const CART = 'cart'
const COUNTER = 'counter'
const NOTHING_REFUSED = { failure: undefined, refused: new Map<bigint, RefusedPet>() }

/** What is being sold, kept in the browser until it is in the queue of sales. */
export class Till extends State<TillState> {
  readonly queue: SaleQueue
  readonly #saving: SaveContext
  readonly #kept: KeptWork

  constructor(saving: SaveContext, kept: KeptWork, queue: SaleQueue) {
    super(readCart(kept))
    this.#saving = saving
    this.#kept = kept
    this.queue = queue
  }

  readonly readAgain = (): void => {
    this.setValue(readCart(this.#kept))
  }

  add(petId: bigint, quantity = 1): void {
    const { lines, receipt } = this.get()
    const before = lines.find((line) => line.petId === petId)?.quantity ?? 0
    hideToast('sale')
    if (receipt === '') this.setReceipt(this.#proposedReceipt())
    this.#setLines([{ petId, quantity: before + quantity }, ...lines.filter((line) => line.petId !== petId)])
  }

  /** Sets the quantity of a line; 0 removes the line. */
  setQuantity(petId: bigint, quantity: number): void {
    const lines = this.get().lines.map((line) => (line.petId === petId ? { petId, quantity } : line))
    this.#setLines(lines.filter((line) => line.quantity > 0))
  }

  setReceipt(receipt: string): void {
    this.#keep({ ...this.get(), receipt })
  }

  clear(): void {
    this.#setLines([])
  }

  /** Starts the next sale, with the next receipt. */
  next(): void {
    const isProposed = this.#receipt() === this.#proposedReceipt()
    if (isProposed) this.#kept.write(COUNTER, { day: today(), number: this.#receiptNumber() })
    this.clear()
  }

  /**
   * Books all lines as one sale. The next basket is open at once. If the service cannot be reached, the queue books the
   * sale later.
   */
  async sell(): Promise<void> {
    const { lines } = this.get()
    if (lines.length === 0) return
    const receipt = this.#receipt()
    const pieces = lines.reduce((sum, { quantity }) => sum + quantity, 0)
    const sale = newSale(lines, receipt, this.#saving.timeOfAction())
    showToast({ name: 'sale', text: `Booking sale ${receipt}.` })
    const booking = this.queue.book(sale)
    this.next()
    const outcome = await booking
    if (outcome.type === 'refused') {
      hideToast('sale')
      this.#takeBack({ ...sale, refusal: outcome.refusal })
      return
    }
    if (outcome.type === 'waiting') {
      const text = `Sale ${receipt} is kept here, and booked when the service can be reached.`
      showToast({ name: 'sale', text })
      return
    }
    const { changes } = outcome
    const adjustmentId = changes[0]?.adjustmentId
    if (adjustmentId === undefined) throw new Error('a booked sale has an adjustment')
    const late = lateWords(changes, (petId) => this.#saving.stock.nameOf(petId))
    const text = [`Sold ${piecesWords(pieces)}, receipt ${receipt}.`, late].filter(Boolean).join(' ')
    const undo = () => void this.#undo(adjustmentId, receipt)
    showToast({ name: 'sale', text, action: { label: 'Undo', run: undo } })
  }

  /** The person at the till decides on a refused sale at once, or later if the next basket is not empty. */
  #takeBack(sale: RefusedSale): void {
    if (this.get().lines.length > 0) {
      this.queue.keep(sale)
      return
    }
    const { lines, receipt, refusal } = sale
    const refused = new Map(refusal.pets.map((pet) => [pet.petId, pet]))
    this.#keep({ lines, receipt, failure: refusal.message, refused })
  }

  async #undo(adjustmentId: bigint, receipt: string): Promise<void> {
    const outcome = await reverseAdjustment(this.#saving, adjustmentId)
    if (outcome.type === 'failed') showProblem('sale', `Sale ${receipt} was not undone. ${outcome.why}`)
    else if (outcome.type === 'done') showToast({ name: 'sale', text: `Sale ${receipt} is undone.` })
    else showToast({ name: 'sale', text: `Sale ${receipt} was undone or returned before.` })
  }

  #setLines(lines: readonly SaleLine[]): void {
    // A receipt belongs to one customer.
    const receipt = lines.length === 0 ? '' : this.get().receipt
    this.#keep({ lines, receipt, ...NOTHING_REFUSED })
  }

  #keep(state: TillState): void {
    const { lines, receipt } = state
    this.#kept.write(CART, { receipt, lines: lines.map(({ petId, quantity }) => [String(petId), quantity]) })
    this.setValue(state)
  }

  #receipt(): string {
    return this.get().receipt.trim() || this.#proposedReceipt()
  }

  #proposedReceipt(): string {
    return `R-${today()}-${deviceName(this.#kept)}-${String(this.#receiptNumber()).padStart(3, '0')}`
  }

  #receiptNumber(): number {
    const { day, number } = keptFields(this.#kept.read(COUNTER))
    return day === today() ? (keptCount(number) ?? 0) + 1 : 1
  }
}

function readCart(kept: KeptWork): TillState {
  const { receipt, lines } = keptFields(kept.read(CART))
  return {
    lines: keptRows(lines).flatMap(([id, amount]) => {
      const [petId, quantity] = [keptId(id), keptCount(amount)]
      return petId === undefined || quantity === undefined ? [] : [{ petId, quantity }]
    }),
    receipt: keptText(receipt),
    ...NOTHING_REFUSED,
  }
}

/** The till of the person who is signed in. Its queue keeps sending while other views are shown. */
export const tillOf = perSession(({ saving }, owner: KeyOwner) => {
  const queue = new SaleQueue(saving, new KeptWork(owner.id, 'sales', localStorage, 1))
  const kept = new KeptWork(owner.id, 'sell')
  const till = new Till(saving, kept, queue)
  queue.start()
  kept.onChangeElsewhere(till.readAgain, saving.signal)
  return till
})

/** Such as `261117`. */
function today(): string {
  const now = new Date()
  return [now.getFullYear() % 100, now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('')
}

/** Keeps the receipts of two devices apart. */
function deviceName(kept: KeptWork): string {
  const known = kept.read('device')
  if (typeof known === 'string') return known
  const name = [...crypto.getRandomValues(new Uint8Array(2))]
    .map((byte) => 'ACDEFGHJKLMNPQRTUVWXYZ34679'[byte % 27])
    .join('')
  kept.write('device', name)
  return name
}
