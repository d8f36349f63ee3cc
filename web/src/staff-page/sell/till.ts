import { lateWords } from '../data/late-words.ts'
import type { QuantityChange } from '../data/stock/adjustment-batch.ts'
import { reverseAdjustment } from '../data/stock/reversal.ts'
import { hideToast, showProblem, showToast } from '../data/toasts.ts'
import { Draft, type WorkPlace } from '../data/work/draft.ts'
import { workPlaceOf } from '../session/device-work.ts'
import type { KeyOwner } from '../session/session.ts'
import { perSession } from '../session/work-frame.tsx'
import { piecesWords } from '../ui/words.ts'

interface SaleHead {
  readonly receipt: string
}

/** The last receipt, such as `261117 12`. */
const COUNTER = 'petstore.receipt'
const DEVICE = 'petstore.device'

const UNSETTLED = {
  waiting: 'is kept here, and booked when the service can be reached.',
  elsewhere: 'was booked or changed by another tab.',
} as const

/** What is being sold: the pieces of each pet. */
export class Till extends Draft<SaleHead, number> {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>

  constructor(place: WorkPlace, storage: Pick<Storage, 'getItem' | 'setItem'> = localStorage) {
    super(place, 'sale', { receipt: '' })
    this.#storage = storage
  }

  add(petId: bigint, quantity = 1): void {
    const { lines, head } = this.get()
    hideToast('sale')
    if (head.receipt === '') this.setReceipt(this.#proposedReceipt())
    this.setLines([[petId, (lines.get(petId) ?? 0) + quantity]])
  }

  /** Sets the quantity of a line, which keeps its place; 0 removes the line. */
  setQuantity(petId: bigint, quantity: number): void {
    const { lines } = this.get()
    if (quantity > 0) {
      void this.change((draft) => ({ lines: new Map(draft.lines).set(petId, quantity), refusal: undefined }))
    } else if (lines.size > 1) this.setLines([[petId, undefined]])
    else this.clear()
  }

  setReceipt(receipt: string): void {
    this.setHead({ receipt })
  }

  /** Starts the next sale, with the next receipt. */
  next(): void {
    this.#useReceipt()
    this.clear()
  }

  /**
   * Books all lines as one sale. The next basket is open at once. If the service cannot be reached, the outbox books the
   * sale later.
   */
  async sell(): Promise<void> {
    const { lines } = this.get()
    if (lines.size === 0) return
    const receipt = this.#receipt()
    const pieces = [...lines.values()].reduce((sum, quantity) => sum + quantity, 0)
    this.#useReceipt()
    const booking = this.send((petId, quantity) => ({ petId, delta: -quantity }), {
      reason: 'sold',
      reference: receipt,
      keepReserved: true,
    })
    showToast({ name: 'sale', text: `Booking sale ${receipt}.` })
    const outcome = await booking
    if (outcome.type === 'booked') this.#showBooked(receipt, pieces, outcome.changes)
    else if (outcome.type === 'refused') hideToast('sale')
    else showToast({ name: 'sale', text: `Sale ${receipt} ${UNSETTLED[outcome.type]}` })
  }

  #showBooked(receipt: string, pieces: number, changes: readonly QuantityChange[]): void {
    const adjustmentId = changes[0]?.adjustmentId
    if (adjustmentId === undefined) throw new Error('a booked sale has an adjustment')
    const late = lateWords(changes, (petId) => this.saving.stock.nameOf(petId))
    const text = [`Sold ${piecesWords(pieces)}, receipt ${receipt}.`, late].filter(Boolean).join(' ')
    const undo = () => void this.#undo(adjustmentId, receipt)
    showToast({ name: 'sale', text, action: { label: 'Undo', run: undo } })
  }

  async #undo(adjustmentId: bigint, receipt: string): Promise<void> {
    const outcome = await reverseAdjustment(this.saving, adjustmentId)
    if (outcome.type === 'failed') showProblem('sale', `Sale ${receipt} was not undone. ${outcome.why}`)
    else if (outcome.type === 'done') showToast({ name: 'sale', text: `Sale ${receipt} is undone.` })
    else showToast({ name: 'sale', text: `Sale ${receipt} was undone or returned before.` })
  }

  #receipt(): string {
    return this.get().head.receipt.trim() || this.#proposedReceipt()
  }

  /** A receipt that a person typed uses no number. */
  #useReceipt(): void {
    if (this.#receipt() === this.#proposedReceipt()) {
      this.#storage.setItem(COUNTER, `${today()} ${this.#receiptNumber()}`)
    }
  }

  #proposedReceipt(): string {
    return `R-${today()}-${this.#deviceName()}-${String(this.#receiptNumber()).padStart(3, '0')}`
  }

  #receiptNumber(): number {
    const [day, number] = this.#storage.getItem(COUNTER)?.split(' ') ?? []
    return day === today() ? Number(number) + 1 : 1
  }

  /** Keeps the receipts of two devices apart. */
  #deviceName(): string {
    const known = this.#storage.getItem(DEVICE)
    if (known !== null) return known
    const name = [...crypto.getRandomValues(new Uint8Array(2))]
      .map((byte) => 'ACDEFGHJKLMNPQRTUVWXYZ34679'[byte % 27])
      .join('')
    this.#storage.setItem(DEVICE, name)
    return name
  }
}

/** The till of the person who is signed in. */
export const tillOf = perSession((session, owner: KeyOwner) => new Till(workPlaceOf(session, owner)))

/** Such as `261117`. */
function today(): string {
  const now = new Date()
  return [now.getFullYear() % 100, now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('')
}
