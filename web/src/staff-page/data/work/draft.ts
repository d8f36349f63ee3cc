import type { Readable } from '../observable.ts'
import { newBatch, type Purpose, type RowChange, randomId } from '../stock/adjustment-batch.ts'
import type { SaveContext } from '../stock/own-request.ts'
import type { Outbox, WorkOutcome } from './outbox.ts'
import type { SentWork, WorkDocument, WorkKind } from './work-document.ts'

/** Who works, where, and with what. */
export interface WorkPlace {
  readonly outbox: Outbox
  readonly saving: SaveContext
  readonly owner: SentWork['by']
}

/** A document that a person prepares, kept in the browser at every step. */
export abstract class Draft<Head, Line> implements Readable<WorkDocument<Head, Line>> {
  readonly isKept: Readable<boolean>
  readonly subscribe: Outbox['subscribe']
  protected readonly saving: SaveContext
  protected readonly outbox: Outbox
  readonly #owner: SentWork['by']
  readonly #empty: WorkDocument<Head, Line>

  constructor({ outbox, saving, owner }: WorkPlace, kind: WorkKind, emptyHead: Head) {
    this.outbox = outbox
    this.saving = saving
    this.#owner = owner
    this.#empty = { slot: kind, id: '', kind, head: emptyHead, lines: new Map() }
    this.subscribe = outbox.subscribe
    this.isKept = outbox.isKept
  }

  readonly get = (): WorkDocument<Head, Line> => this.draftIn(this.outbox.get())

  clear(): void {
    void this.outbox.edit((documents) => void documents.delete(this.#empty.slot))
  }

  /** Resolves once the change is stored. The first change begins the draft. */
  protected change(
    changes: (
      draft: WorkDocument<Head, Line>,
    ) => Partial<Pick<WorkDocument<Head, Line>, 'head' | 'lines' | 'refusal'>>,
  ): Promise<void> {
    const newId = randomId()
    const { slot } = this.#empty
    return this.outbox.edit((documents) => {
      const before = this.draftIn(documents)
      documents.set(slot, { ...before, id: before.id || newId, ...changes(before) })
    })
  }

  protected setHead(head: Head): void {
    void this.change(() => ({ head }))
  }

  /** Sets lines, each the last one then, or removes those that are `undefined`. */
  protected setLines(changed: readonly (readonly [bigint, Line | undefined])[]): void {
    void this.change((draft) => {
      const lines = new Map(draft.lines)
      for (const [petId, line] of changed) {
        lines.delete(petId)
        if (line !== undefined) lines.set(petId, line)
      }
      const isChanged = (petId: bigint) => changed.some(([id]) => id === petId)
      const pets = draft.refusal?.pets.filter(({ petId }) => !isChanged(petId)) ?? []
      const refusal = pets.length === 0 ? undefined : draft.refusal && { ...draft.refusal, pets }
      return { lines, refusal }
    })
  }

  protected sentWork(id: string, changes: readonly RowChange[], purpose: Purpose): SentWork {
    const occurredAt = this.saving.timeOfAction()
    return { by: this.#owner, batch: { ...newBatch(changes, purpose), idempotencyKey: id, occurredAt } }
  }

  /** Puts the whole draft into the outbox, and waits for its outcome. The next draft can be started at once. */
  protected async send(
    toChange: (petId: bigint, line: Line) => RowChange,
    purpose: Purpose,
  ): Promise<WorkOutcome> {
    const { slot } = this.#empty
    const { id } = this.get()
    const { batch, by } = this.sentWork(id, [], purpose)
    const outcome = await this.outbox.send(id, (documents) => {
      const draft = this.draftIn(documents)
      // Another tab has sent it, and may have begun the next one.
      if (draft.id !== id) return
      const changes = Array.from(draft.lines, ([petId, line]) => toChange(petId, line))
      documents.delete(slot)
      documents.set(id, {
        ...draft,
        slot: id,
        sent: { by, batch: { ...batch, changes } },
        refusal: undefined,
      })
    })
    if (outcome.type === 'refused') await this.outbox.takeBack(id)
    return outcome
  }

  protected draftIn(documents: ReadonlyMap<string, WorkDocument>): WorkDocument<Head, Line> {
    // Only the draft of its kind writes to the slot.
    return (documents.get(this.#empty.slot) as WorkDocument<Head, Line> | undefined) ?? this.#empty
  }
}
