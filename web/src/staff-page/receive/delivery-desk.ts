import { isPetstoreError } from '@petstore/client'
import { failureWords } from '../data/failure-words.ts'
import type { KeptWork } from '../data/kept-work.ts'
import { Observable, type Readable } from '../data/observable.ts'
import {
  type Batch,
  GONE,
  isRemembered,
  MAX_CHANGES,
  newBatch,
  refusedOf,
  sendBatch,
} from '../data/stock/adjustment-batch.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'
import type { UndoHistory } from '../data/stock/undo-history.ts'
import { readReference } from '../quantity/purpose-fields.tsx'
import { type KeptDelivery, NO_DELIVERY, readDelivery, writeDelivery } from './kept-delivery.ts'

/** What was booked in. */
export interface Received {
  readonly pets: number
  readonly pieces: number
  readonly reference: string | undefined
}

export interface DeliveryState extends KeptDelivery {
  /**
   * `open` for more; `sending` until an answer comes; `unsettled` where none came, and the service may have booked it
   * in; `forgotten` where that was so long ago that asking again would book it in twice.
   */
  readonly phase: 'open' | 'sending' | 'unsettled' | 'forgotten'
  /** Why it was not booked in. */
  readonly failure: string | undefined
  /** What the service says of single pets that keep it from being booked in. */
  readonly refused: ReadonlyMap<bigint, string>
  /** The last one that was booked in, until another is begun. */
  readonly received: Received | undefined
  /** False where this browser has no room to keep it. */
  readonly isKept: boolean
}

interface DeskContext {
  readonly saving: SaveContext
  readonly undo: UndoHistory
  readonly kept: KeptWork
}

const OPEN = { phase: 'open', failure: undefined, refused: new Map<bigint, string>() } as const

/**
 * A delivery that is being received. Every step of it is kept in the browser before anything else happens, the key
 * under which it is sent as well: so a lost answer, a reload or two tabs never book it in twice.
 */
export class DeliveryDesk implements Readable<DeliveryState> {
  readonly #context: DeskContext
  readonly #state: Observable<DeliveryState>

  readonly get: () => DeliveryState
  readonly subscribe: Readable<DeliveryState>['subscribe']

  constructor(context: DeskContext) {
    this.#context = context
    this.#state = new Observable<DeliveryState>(asFound(readDelivery(context.kept)))
    this.get = this.#state.get
    this.subscribe = this.#state.subscribe
  }

  /** Takes over what another tab has made of it. */
  readonly readAgain = (): void => {
    if (this.get().phase !== 'sending') this.#state.set(asFound(readDelivery(this.#context.kept)))
  }

  /** So many more of a pet have come. Gives why it cannot be taken; `undefined` where it was. */
  add(petId: bigint, amount: number): string | undefined {
    const { lines } = this.get()
    const before = lines.find((line) => line.petId === petId)
    if (before === undefined && lines.length === MAX_CHANGES) {
      const most = MAX_CHANGES.toLocaleString('en')
      return `This delivery has ${most} pets, which is as many as go at once. Receive it, then begin another one.`
    }
    const total = (before?.amount ?? 0) + amount
    if (total > MAX_QUANTITY)
      return 'Together with what is in the list already, that is more than there can be.'
    this.#change({ lines: [{ petId, amount: total }, ...lines.filter((line) => line !== before)] })
    return undefined
  }

  setAmount(petId: bigint, amount: number): void {
    this.#change({
      lines: this.get().lines.map((line) => (line.petId === petId ? { petId, amount } : line)),
    })
  }

  remove(petId: bigint): void {
    this.#change({ lines: this.get().lines.filter((line) => line.petId !== petId) })
  }

  setReference(reference: string): void {
    this.#change({ reference })
  }

  /** Begins anew; what was not booked in is given up. */
  clear(): void {
    this.#keep(NO_DELIVERY, OPEN)
  }

  /** Books all of it in at once, or asks what came of it where that is not known. */
  async book(): Promise<void> {
    const { lines, phase } = this.get()
    if (phase === 'sending' || phase === 'forgotten' || lines.length === 0) return
    const { saving, undo } = this.#context
    const batch = this.#batch()
    const { idempotencyKey, madeAt } = batch
    this.#keep({ ...this.get(), sent: { idempotencyKey, madeAt } }, { ...OPEN, phase: 'sending' })
    try {
      const made = await sendBatch(saving, batch, saving.signal)
      saving.stock.publishNow()
      const { reference } = batch.purpose
      undo.record(made, reference)
      const pieces = lines.reduce((sum, { amount }) => sum + amount, 0)
      this.#keep(NO_DELIVERY, { ...OPEN, received: { pets: lines.length, pieces, reference } })
    } catch (error) {
      this.#failed(batch, error)
    }
  }

  /** It is known by now that a delivery without an answer was not booked in: it may be sent once more. */
  sendAnew(): Promise<void> {
    this.#keep({ ...this.get(), sent: undefined }, OPEN)
    return this.book()
  }

  #batch(): Batch {
    const { lines, sent, reference } = this.get()
    const changes = lines.map(({ petId, amount }) => ({ petId, delta: amount }))
    const batch = newBatch(changes, { reason: 'received', reference: readReference(reference) })
    return sent === undefined ? batch : { ...batch, ...sent, isRepeat: true }
  }

  #failed(batch: Batch, error: unknown): void {
    const isAnswered = isPetstoreError(error) && !error.mayHaveBeenMade
    // Where the session has ended, nobody is there to be told; the browser knows that it was sent.
    if (!isAnswered) {
      const failure = isPetstoreError(error) ? failureWords(error) : 'No answer came.'
      this.#state.set({ ...this.get(), phase: 'unsettled', failure })
      return
    }
    const refused = new Map(
      Array.from(refusedOf(error, batch), ([{ petId }, { code, message }]) => [
        petId,
        code === 'not_found' ? GONE : message,
      ]),
    )
    const failure = refused.size === 0 ? failureWords(error) : undefined
    this.#keep({ ...this.get(), sent: undefined }, { ...OPEN, refused, failure })
  }

  #change(changes: Partial<KeptDelivery>): void {
    const before = this.get()
    if (before.phase !== 'open') return
    const refused = new Map(before.refused)
    for (const petId of refused.keys()) {
      if (changes.lines?.some((line) => line.petId === petId) === false) refused.delete(petId)
    }
    this.#keep({ ...before, ...changes }, { ...OPEN, refused })
  }

  #keep(
    { lines, reference, sent }: KeptDelivery,
    rest: Pick<DeliveryState, 'phase' | 'failure' | 'refused'> & { readonly received?: Received },
  ): void {
    const kept = { lines, reference, sent }
    const isKept = writeDelivery(this.#context.kept, kept)
    this.#state.set({ received: undefined, ...kept, ...rest, isKept })
  }
}

/** One that was sent before the page was loaded has no answer that anybody has seen. */
function asFound(kept: KeptDelivery): DeliveryState {
  const { sent } = kept
  const sentPhase = sent !== undefined && isRemembered(sent) ? 'unsettled' : 'forgotten'
  return {
    ...OPEN,
    ...kept,
    phase: sent === undefined ? 'open' : sentPhase,
    received: undefined,
    isKept: true,
  }
}
