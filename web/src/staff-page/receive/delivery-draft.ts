import { MAX_LENGTHS } from '@petstore/client'
import { Observable } from '../data/observable.ts'
import type { QuantityChange } from '../data/stock/adjustment-batch.ts'
import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'
import { showToast } from '../data/toasts.ts'
import { Draft, type WorkPlace } from '../data/work/draft.ts'
import { readReference } from '../quantity/purpose-fields.tsx'
import { isImplausible } from '../quantity/typed-change.ts'
import { workPlaceOf } from '../session/device-work.ts'
import type { KeyOwner } from '../session/session.ts'
import { perSession } from '../session/work-frame.tsx'

interface DeliveryHead {
  readonly reference: string
}

/** The line whose amount the user is typing. Its pieces are part of the delivery. */
export interface OpenLine {
  readonly petId: bigint
  /** How many pieces of the line were added since it was opened. */
  readonly amount: number
}

export interface Received {
  readonly pieces: number
  readonly reference: string | undefined
  readonly changes: readonly QuantityChange[]
}

const MAX_LINES = MAX_LENGTHS.InventoryAdjustment.changes

/** A delivery that is being received: how many pieces of each pet have arrived. */
export class DeliveryDraft extends Draft<DeliveryHead, number> {
  readonly openLine = new Observable<OpenLine | undefined>(undefined)
  /** The last delivery that was booked, until another one is started. */
  readonly received = new Observable<Received | undefined>(undefined)

  constructor(place: WorkPlace) {
    super(place, 'delivery', { reference: '' })
  }

  override clear(): void {
    super.clear()
    this.openLine.set(undefined)
  }

  /** Adds one piece of a pet and opens its line. Returns why that is not possible. */
  open(petId: bigint): string | undefined {
    this.openLine.set(undefined)
    const refusal = this.add(petId, 1)
    if (refusal === undefined) this.openLine.set({ petId, amount: 1 })
    return refusal
  }

  /** Changes the pieces of the open line. Returns why that is not possible. */
  setOpenAmount(amount: number): string | undefined {
    const line = this.openLine.get()
    if (line === undefined) return undefined
    const refusal = this.add(line.petId, amount - line.amount)
    if (refusal === undefined) this.openLine.set({ ...line, amount })
    return refusal
  }

  /** Closes the open line and takes its pieces out of the delivery. */
  cancelOpenLine(): void {
    const line = this.openLine.get()
    if (line !== undefined) this.add(line.petId, -line.amount)
    this.openLine.set(undefined)
  }

  /** Adds pieces of a pet. Returns why that is not possible. */
  add(petId: bigint, amount: number): string | undefined {
    const { lines } = this.get()
    const before = lines.get(petId)
    if (before === undefined && lines.size === MAX_LINES) {
      return `A delivery has at most ${MAX_LINES.toLocaleString('en')} pets. Receive this one, then start another.`
    }
    const total = (before ?? 0) + amount
    if (total > MAX_QUANTITY) return 'Together with the pieces in the list, that is more than a pet can have.'
    this.received.set(undefined)
    this.setLines([[petId, total > 0 ? total : undefined]])
    return undefined
  }

  setAmount(petId: bigint, amount: number): void {
    if (this.openLine.get()?.petId === petId) this.openLine.set(undefined)
    this.add(petId, amount - (this.get().lines.get(petId) ?? 0))
  }

  setReference(reference: string): void {
    this.setHead({ reference })
  }

  /** Books the whole delivery by one adjustment. If the service cannot be reached, the outbox books it later. */
  async book(): Promise<void> {
    const { lines, head } = this.get()
    if (lines.size === 0) return
    this.openLine.set(undefined)
    const reference = readReference(head.reference)
    const purpose = { reason: 'received', reference } as const
    const outcome = await this.send((petId, delta) => ({ petId, delta }), purpose)
    if (outcome.type === 'booked') {
      this.received.set({ pieces: piecesOf(lines), reference, changes: outcome.changes })
    } else if (outcome.type === 'waiting') {
      const text = 'The delivery is kept here, and received when the service can be reached.'
      showToast({ name: 'work', text })
    }
  }

  /** Whether the amount is so large that it may be a mistake. */
  isImplausible(petId: bigint, amount: number): boolean {
    const quantity = this.saving.stock.find(petId)?.quantity ?? 0
    return isImplausible(quantity, quantity + amount)
  }
}

export const deliveryOf = perSession(
  (session, owner: KeyOwner) => new DeliveryDraft(workPlaceOf(session, owner)),
)

export function piecesOf(lines: ReadonlyMap<bigint, number>): number {
  return [...lines.values()].reduce((sum, amount) => sum + amount, 0)
}
