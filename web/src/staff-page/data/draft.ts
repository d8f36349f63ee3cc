import { isPetstoreError, type Reason } from '@petstore/client'
import { failureWords } from './failure-words.ts'
import { type KeptWork, keptCount, keptFields, keptId, keptRows, keptText } from './kept-work.ts'
import { State } from './observable.ts'
import {
  type Batch,
  GONE,
  newBatch,
  type QuantityChange,
  type RowChange,
  refusedOf,
  sendBatch,
} from './stock/adjustment-batch.ts'
import type { SaveContext } from './stock/own-request.ts'

/** How the browser keeps a draft, and why its changes are made. */
export interface DraftFormat<Line, Head> {
  readonly reason: Reason
  /** The lines are kept in this many parts, so that a change of a large draft writes only one of them. */
  readonly parts: number
  readonly writeLine: (line: Line) => readonly unknown[]
  /** Returns `undefined` if the values are not a line. */
  readonly readLine: (values: readonly unknown[]) => Line | undefined
  readonly writeHead: (head: Head) => object
  /** Returns `undefined` if no draft was started. */
  readonly readHead: (fields: Readonly<Record<string, unknown>>) => Head | undefined
}

export interface DraftState<Line, Head> {
  /** `undefined` if no draft was started. */
  readonly head: Head | undefined
  /** The last line that was changed is the last one. The map is always the same; `version` grows if it changes. */
  readonly lines: ReadonlyMap<bigint, Line>
  readonly version: number
  /** The batch whose response has not arrived. */
  readonly sent: Batch | undefined
  /** `sending` until the response arrives; `unsettled` if it was lost, so that the changes may have been made. */
  readonly phase: 'open' | 'sending' | 'unsettled'
  /** Why the last batch was not saved. */
  readonly failure: string | undefined
  /** Why the service refused single pets. */
  readonly refused: ReadonlyMap<bigint, string>
  /** False if the browser has no room to keep the draft. */
  readonly isKept: boolean
}

export type SendResult = 'made' | 'refused' | 'failed' | 'unsure'

const HEAD = 'head'

/**
 * Changes of many pets that a user prepares and then sends. Every step is kept in the browser at once, and a batch with
 * its idempotency key before it is sent: neither a reload, a lost response nor a second tab loses it or makes it twice.
 */
export abstract class Draft<Line, Head> extends State<DraftState<Line, Head>> {
  protected readonly saving: SaveContext
  readonly #kept: KeptWork
  readonly #format: DraftFormat<Line, Head>
  #lines = new Map<bigint, Line>()

  constructor(saving: SaveContext, kept: KeptWork, format: DraftFormat<Line, Head>) {
    super({
      head: undefined,
      lines: new Map(),
      version: 0,
      sent: undefined,
      phase: 'open',
      failure: undefined,
      refused: new Map(),
      isKept: true,
    })
    this.saving = saving
    this.#kept = kept
    this.#format = format
    this.reload()
  }

  /** Reads the draft again, after another tab has written it. */
  readonly reload = (): void => {
    if (this.get().phase === 'sending') return
    this.#lines = this.#readLines()
    this.#change(this.#readHead())
  }

  clear(): void {
    this.#kept.write(HEAD, undefined)
    for (let part = 0; part < this.#format.parts; part++) this.#kept.write(String(part), undefined)
    this.#lines = new Map()
    this.#change({ head: undefined, sent: undefined, phase: 'open', failure: undefined, refused: new Map() })
  }

  protected setHead(head: Head): void {
    this.#keepHead({ head })
  }

  /** Sets lines, or removes those that are `undefined`. */
  protected setLines(changes: readonly (readonly [bigint, Line | undefined])[]): void {
    const refused = new Map(this.get().refused)
    for (const [petId, line] of changes) {
      this.#lines.delete(petId)
      if (line !== undefined) this.#lines.set(petId, line)
      refused.delete(petId)
    }
    const isKept = this.#writeLines(new Set(changes.map(([petId]) => this.#partOf(petId))))
    this.#change({ refused, isKept: isKept && this.get().isKept })
  }

  protected newBatch(changes: readonly RowChange[], reference: string | undefined): Batch {
    const batch = newBatch(changes, { reason: this.#format.reason, reference })
    const now = this.saving.timeOfAction()
    return { ...batch, madeAt: now, occurredAt: now }
  }

  /** Sends a batch. `onMade` updates the draft before the batch is forgotten. */
  protected async send(
    batch: Batch,
    onMade: (changes: readonly QuantityChange[]) => void,
  ): Promise<SendResult> {
    const { saving } = this
    const refused = new Map(this.get().refused)
    for (const { petId } of batch.changes) refused.delete(petId)
    this.#keepHead({ sent: batch, phase: 'sending', failure: undefined, refused })
    try {
      onMade(await sendBatch(saving, batch))
      this.#keepHead({ sent: undefined, phase: 'open' })
      saving.stock.publishNow()
      return 'made'
    } catch (error) {
      const isAnswered = isPetstoreError(error) && !error.mayHaveBeenMade
      const failure = isPetstoreError(error) ? failureWords(error) : undefined
      if (!isAnswered) {
        this.#keepHead({ sent: { ...batch, isRepeat: true }, phase: 'unsettled', failure })
        return 'unsure'
      }
      for (const [{ petId }, { code, message }] of refusedOf(error, batch)) {
        refused.set(petId, code === 'not_found' ? GONE : message)
      }
      const isRefused = error.details.length > 0
      this.#keepHead({ sent: undefined, phase: 'open', refused, failure: isRefused ? undefined : failure })
      return isRefused ? 'refused' : 'failed'
    }
  }

  #change(changes: Partial<DraftState<Line, Head>>): void {
    const state = this.get()
    this.setValue({ ...state, ...changes, lines: this.#lines, version: state.version + 1 })
  }

  #keepHead(changes: Partial<DraftState<Line, Head>>): void {
    const { head, sent } = { ...this.get(), ...changes }
    const fields = head === undefined ? undefined : this.#format.writeHead(head)
    const isEmpty = fields === undefined && sent === undefined
    const isKept = this.#kept.write(
      HEAD,
      isEmpty ? undefined : { ...fields, sent: sent && this.#writeBatch(sent) },
    )
    this.#change({ ...changes, isKept: isKept && this.get().isKept })
  }

  #readHead(): Pick<DraftState<Line, Head>, 'head' | 'sent' | 'phase'> {
    const fields = keptFields(this.#kept.read(HEAD))
    const sent = this.#readBatch(fields.sent)
    return { head: this.#format.readHead(fields), sent, phase: sent === undefined ? 'open' : 'unsettled' }
  }

  #readLines(): Map<bigint, Line> {
    const lines = new Map<bigint, Line>()
    for (let part = 0; part < this.#format.parts; part++) {
      for (const [id, ...values] of keptRows(this.#kept.read(String(part)))) {
        const petId = keptId(id)
        const line = this.#format.readLine(values)
        if (petId !== undefined && line !== undefined) lines.set(petId, line)
      }
    }
    return lines
  }

  #writeLines(parts: ReadonlySet<number>): boolean {
    const rows = new Map(Array.from(parts, (part): [number, unknown[]] => [part, []]))
    for (const [petId, line] of this.#lines) {
      rows.get(this.#partOf(petId))?.push([String(petId), ...this.#format.writeLine(line)])
    }
    return Array.from(rows)
      .map(([part, kept]) => this.#kept.write(String(part), kept.length === 0 ? undefined : kept))
      .every((isKept) => isKept)
  }

  #partOf(petId: bigint): number {
    return Number(BigInt.asUintN(64, petId) % BigInt(this.#format.parts))
  }

  #writeBatch({ changes, purpose: { reference }, idempotencyKey, madeAt }: Batch): unknown {
    const rows = changes.map((change) => ({ ...change, petId: String(change.petId) }))
    return { changes: rows, reference, idempotencyKey, madeAt }
  }

  #readBatch(value: unknown): Batch | undefined {
    const { changes, reference, idempotencyKey, madeAt } = keptFields(value)
    if (typeof idempotencyKey !== 'string' || typeof madeAt !== 'number' || !Array.isArray(changes)) {
      return undefined
    }
    const purpose = { reason: this.#format.reason, reference: keptText(reference) || undefined }
    return {
      changes: changes.flatMap(readChange),
      purpose,
      idempotencyKey,
      madeAt,
      occurredAt: madeAt,
      isRepeat: true,
    }
  }
}

function readChange(value: unknown): RowChange[] {
  const kept = keptFields(value)
  const petId = keptId(kept.petId)
  const delta = keptCount(kept.delta)
  const quantity = keptCount(kept.quantity)
  const expected = keptCount(kept.expected)
  if (petId === undefined) return []
  if (delta !== undefined) return [{ petId, delta }]
  return quantity === undefined || expected === undefined ? [] : [{ petId, quantity, expected }]
}
