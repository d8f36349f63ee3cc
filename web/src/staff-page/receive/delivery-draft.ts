import { MAX_LENGTHS } from '@petstore/client'
import { Draft, type DraftFormat } from '../data/draft.ts'
import { KeptWork, keptCount, keptText } from '../data/kept-work.ts'
import { Observable } from '../data/observable.ts'
import type { QuantityChange } from '../data/stock/adjustment-batch.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'
import { readReference } from '../quantity/purpose-fields.tsx'
import { isImplausible } from '../quantity/typed-change.ts'
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

const FORMAT: DraftFormat<number, DeliveryHead> = {
  reason: 'received',
  parts: 1,
  writeLine: (amount) => [amount],
  readLine: ([amount]) => keptCount(amount),
  writeHead: ({ reference }) => ({ reference }),
  readHead: ({ reference }) => (keptText(reference) === '' ? undefined : { reference: keptText(reference) }),
}

/** A delivery that is being received: how many pieces of each pet have arrived. */
export class DeliveryDraft extends Draft<number, DeliveryHead> {
  readonly openLine = new Observable<OpenLine | undefined>(undefined)
  /** The last delivery that was booked, until another one is started. */
  readonly received = new Observable<Received | undefined>(undefined)

  constructor(saving: SaveContext, kept: KeptWork) {
    super(saving, kept, FORMAT)
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
    const { lines, phase } = this.get()
    if (phase !== 'open') return 'The last delivery is not settled yet.'
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
    if (this.get().phase === 'open') this.setHead({ reference })
  }

  /** Books the whole delivery by one adjustment, or finds out what became of it if the response was lost. */
  async book(): Promise<void> {
    const { lines, head, phase, sent } = this.get()
    if (phase === 'sending' || lines.size === 0) return
    const changes = Array.from(lines, ([petId, delta]) => ({ petId, delta }))
    const batch = sent ?? this.newBatch(changes, readReference(head?.reference ?? ''))
    await this.send(batch, (made) => {
      const { reference } = batch.purpose
      const pieces = piecesOf(this.get().lines)
      this.clear()
      this.received.set({ pieces, reference, changes: made })
    })
  }

  /** Whether the amount is so large that it may be a mistake. */
  isImplausible(petId: bigint, amount: number): boolean {
    const quantity = this.saving.stock.find(petId)?.quantity ?? 0
    return isImplausible(quantity, quantity + amount)
  }
}

export const deliveryOf = perSession(({ saving }, owner: KeyOwner) => {
  const kept = new KeptWork(owner.id, 'receive')
  const delivery = new DeliveryDraft(saving, kept)
  kept.onChangeElsewhere(delivery.reload, saving.signal)
  return delivery
})

export function piecesOf(lines: ReadonlyMap<bigint, number>): number {
  return [...lines.values()].reduce((sum, amount) => sum + amount, 0)
}
