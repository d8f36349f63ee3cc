import { isPetstoreError } from '@petstore/client'
import { type IDBPDatabase, openDB } from 'idb'
import { failureWords } from '../failure-words.ts'
import { lateWords } from '../late-words.ts'
import { Observable, State } from '../observable.ts'
import {
  type Batch,
  GONE,
  type QuantityChange,
  randomId,
  refusedOf,
  sendBatch,
} from '../stock/adjustment-batch.ts'
import type { SaveContext } from '../stock/own-request.ts'
import { showToast } from '../toasts.ts'
import {
  isSent,
  type Refusal,
  type SentDocument,
  type SentWork,
  titleOf,
  type WorkDocument,
} from './work-document.ts'

/** The documents of this device, by their slots. */
type Documents = ReadonlyMap<string, WorkDocument>
/** Runs once on what the page shows and again on what is stored, where another tab may have been faster. */
type Edit = (documents: Map<string, WorkDocument>) => void

export type WorkOutcome =
  | { readonly type: 'booked'; readonly changes: readonly QuantityChange[] }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The service cannot be reached. The outbox sends the document later. */
  | { readonly type: 'waiting' }
  /** Another tab has sent or changed the draft. */
  | { readonly type: 'elsewhere' }

type TabMessage =
  | { readonly type: 'stored' }
  | { readonly type: 'settled'; readonly id: string; readonly outcome: WorkOutcome }

interface Sender {
  readonly saving: SaveContext
  readonly owner: SentWork['by']
}

const STORE = 'documents'
const RETRY_MS = 5_000
const TIMEOUT_MS = 15_000
const TABS_ANSWER_WITHIN_MS = 1_000

/**
 * The work of this device that is not booked yet: drafts, and documents that wait for the service. Each is kept in the
 * browser before it is sent, and one tab at a time sends. So a network break, a reload or a second tab neither loses a
 * document nor books it twice.
 */
export class Outbox extends State<Documents> {
  /** False if the browser has no room. What is not kept is lost when the page is closed. */
  readonly isKept = new Observable(true)
  readonly #name: string
  #database: Promise<IDBPDatabase> | undefined
  readonly #tabs: BroadcastChannel
  #stored: Documents = new Map()
  /** The edits that are not stored yet. */
  readonly #edits: Edit[] = []
  #storing: Promise<void> = Promise.resolve()
  #nextStoring: Promise<void> | undefined
  #sender: Sender | undefined
  #sending: Promise<boolean> | undefined
  /** The callers of `send`, by the id of the document. */
  readonly #callers = new Map<string, (outcome: WorkOutcome) => void>()

  constructor(name = 'petstore.outbox') {
    super(new Map())
    this.#name = name
    this.#tabs = new BroadcastChannel(name)
    this.#tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => this.#onMessage(data))
    void this.reload()
  }

  /** Changes the documents: at once on the page, and in one transaction in the browser, after which it resolves. */
  async edit(edit: Edit): Promise<void> {
    this.#edits.push(edit)
    const shown = new Map(this.get())
    edit(shown)
    this.setValue(shown)
    await this.#store()
    this.#post({ type: 'stored' })
  }

  /** Reads what other tabs have changed. */
  readonly reload = (): Promise<void> => this.#store()

  /** Sends documents of this person whenever the service may be reachable, until the session ends. */
  start(saving: SaveContext, owner: SentWork['by']): void {
    const { signal } = saving
    const sender = { saving, owner }
    this.#sender = sender
    const send = () => void this.#sendWaiting()
    const timer = setInterval(send, RETRY_MS)
    addEventListener('online', send, { signal })
    signal.addEventListener('abort', () => {
      clearInterval(timer)
      if (this.#sender === sender) this.#sender = undefined
    })
    send()
  }

  /** Makes an edit that puts a document into the outbox, sends the document, and resolves with its outcome. */
  async send(id: string, edit: Edit): Promise<WorkOutcome> {
    const { promise, resolve } = Promise.withResolvers<WorkOutcome>()
    this.#callers.set(id, resolve)
    await this.edit(edit)
    void this.#sendWaiting().then(() => {
      if (this.get().has(id)) resolve({ type: 'waiting' })
      // If another tab has sent it, that tab says how it ended.
      else setTimeout(() => resolve({ type: 'elsewhere' }), TABS_ANSWER_WITHIN_MS)
    })
    const outcome = await promise
    this.#callers.delete(id)
    this.#show()
    return outcome
  }

  /** Whether a caller of `send` waits for the outcome. */
  isSending(id: string): boolean {
    return this.#callers.has(id)
  }

  /** Sends a refused document once more, as a new request. */
  async retry(document: SentDocument): Promise<void> {
    const { slot, sent, refusal } = document
    const id = randomId()
    const { occurredAt } = sent.batch
    const now = this.#sender?.saving.timeOfAction() ?? Date.now()
    const batch: Batch = {
      ...sent.batch,
      idempotencyKey: id,
      occurredAt: refusal?.isTooLate === true ? now : (occurredAt ?? now),
    }
    await this.edit((documents) => {
      if (documents.delete(slot)) {
        documents.set(id, { ...document, slot: id, id, sent: { ...sent, batch }, refusal: undefined })
      }
    })
    await this.#sendWaiting()
  }

  /** Makes a refused document the draft again, unless another draft has been started. */
  async takeBack(id: string): Promise<void> {
    const newId = randomId()
    await this.edit((documents) => {
      const document = documents.get(id)
      if (document?.refusal === undefined) return
      if ((documents.get(document.kind)?.lines.size ?? 0) > 0) return
      documents.delete(id)
      documents.set(document.kind, { ...document, slot: document.kind, id: newId, sent: undefined })
    })
  }

  async discard({ slot }: WorkDocument): Promise<void> {
    await this.edit((documents) => void documents.delete(slot))
  }

  #show(): void {
    const shown = new Map(this.#stored)
    for (const edit of this.#edits) edit(shown)
    this.setValue(shown)
  }

  /** Stores the edits, and reads everything again. Edits that come meanwhile are stored together. */
  #store(): Promise<void> {
    this.#nextStoring ??= this.#storing.then(() => {
      this.#storing = this.#storeEdits()
      this.#nextStoring = undefined
      return this.#storing
    })
    return this.#nextStoring
  }

  async #storeEdits(): Promise<void> {
    const edits = [...this.#edits]
    try {
      this.#stored = await this.#write(edits)
      this.#edits.splice(0, edits.length)
      this.isKept.set(true)
    } catch {
      // They are tried again together with the next one.
      this.isKept.set(edits.length === 0)
    }
    this.#show()
  }

  async #write(edits: readonly Edit[]): Promise<Documents> {
    this.#database ??= openDB(this.#name, 1, {
      upgrade: (database) => void database.createObjectStore(STORE, { keyPath: 'slot' }),
    })
    const transaction = (await this.#database).transaction(STORE, 'readwrite')
    const { store } = transaction
    // Only this class writes to the store.
    const kept = (await store.getAll()) as readonly WorkDocument[]
    const before = new Map(kept.map((document) => [document.slot, document]))
    const after = new Map(before)
    for (const edit of edits) edit(after)
    for (const slot of before.keys()) if (!after.has(slot)) await store.delete(slot)
    for (const [slot, document] of after) if (before.get(slot) !== document) await store.put(document)
    await transaction.done
    return after
  }

  #post(message: TabMessage): void {
    this.#tabs.postMessage(message)
  }

  #onMessage(message: TabMessage): void {
    void this.reload()
    if (message.type === 'settled') this.#callers.get(message.id)?.(message.outcome)
  }

  #waiting(): readonly SentDocument[] {
    return [...this.get().values()]
      .filter(isSent)
      .filter(({ sent, refusal }) => refusal === undefined && sent.by.id === this.#sender?.owner.id)
      .toSorted((one, other) => one.sent.batch.madeAt - other.sent.batch.madeAt)
  }

  /** One tab sends at a time, and every document after the one before it. */
  async #sendWaiting(): Promise<void> {
    this.#sending ??= withLock(this.#name, () => this.#sendAll()).finally(() => {
      this.#sending = undefined
    })
    const isReachable = await this.#sending
    // A document that was added meanwhile does not wait for the next interval.
    if (isReachable && this.#waiting().length > 0) await this.#sendWaiting()
  }

  /** False if the service could not be reached. */
  async #sendAll(): Promise<boolean> {
    await this.reload()
    for (const document of this.#waiting()) {
      const sender = this.#sender
      if (sender === undefined) return false
      const outcome = await send(sender.saving, document)
      if (outcome.type !== 'booked' && outcome.type !== 'refused') return false
      await this.edit((documents) => {
        if (!documents.has(document.slot)) return
        if (outcome.type === 'booked') documents.delete(document.slot)
        else documents.set(document.slot, { ...document, refusal: outcome.refusal })
      })
      const caller = this.#callers.get(document.id)
      if (caller !== undefined) caller(outcome)
      else if (outcome.type === 'booked') showBooked(sender.saving, document, outcome.changes)
      this.#post({ type: 'settled', id: document.id, outcome })
    }
    return true
  }
}

async function send(saving: SaveContext, { sent: { batch } }: SentDocument): Promise<WorkOutcome> {
  const { signal, stock } = saving
  const isRepeat = Date.now() - batch.madeAt > RETRY_MS
  try {
    const options = { signal, retries: 0, timeout: TIMEOUT_MS }
    const changes = await sendBatch(saving, { ...batch, isRepeat }, options)
    stock.publishNow()
    return { type: 'booked', changes }
  } catch (error) {
    return isFinal(error) ? { type: 'refused', refusal: refusalOf(error, batch) } : { type: 'waiting' }
  }
}

function showBooked(
  { stock }: SaveContext,
  document: SentDocument,
  changes: readonly QuantityChange[],
): void {
  const late = lateWords(changes, (petId) => stock.nameOf(petId))
  showToast({ name: 'work', text: [`${titleOf(document)} is booked.`, late].filter(Boolean).join(' ') })
}

/** Runs the work in one tab at a time, if the browser has locks. Without them the Idempotency-Key still protects. */
async function withLock<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  if (navigator.locks === undefined) return work()
  return navigator.locks.request(name, work)
}

/** Whether the service has decided. Everything else, such as a lost response or an overload, is tried again. */
function isFinal(error: unknown): boolean {
  return (
    isPetstoreError(error) &&
    !error.mayHaveBeenMade &&
    error.status !== undefined &&
    [400, 403, 404, 409, 412, 413, 422].includes(error.status)
  )
}

function refusalOf(error: unknown, batch: Batch): Refusal {
  const pets = Array.from(refusedOf(error, batch), ([{ petId }, { code, message, available }]) => ({
    petId,
    why: whyRefused(code, message, available),
    free: available,
  }))
  return {
    message: pets.length === 0 ? failureWords(error) : '',
    isTooLate: isPetstoreError(error, 'too_late'),
    pets,
  }
}

function whyRefused(code: string, message: string, available: number | undefined): string {
  if (code === 'not_found') return GONE
  if (code !== 'insufficient_stock' || available === undefined) return message
  return available <= 0 ? 'None is free.' : `Only ${available.toLocaleString('en')} free.`
}
