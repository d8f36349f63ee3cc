import type {
  CallOptions,
  NewWebhook,
  Page,
  PetstoreClient,
  Webhook,
  WebhookDelivery,
  WebhookTest,
  WebhookUpdate,
  WebhookWithSecret,
} from '@petstore/client'
import { Observable, type Readable } from '../observable.ts'
import { webhookFailure } from './webhook-words.ts'

export interface WebhookListSnapshot {
  readonly phase: 'loading' | 'ready' | 'failed'
  /** The oldest first. */
  readonly webhooks: readonly Webhook[]
  /** Why the last look did not succeed. */
  readonly failure: string | undefined
  /** By the id of their webhook, until somebody says that they are kept: the service does not tell them again. */
  readonly secrets: ReadonlyMap<bigint, string>
}

type Calls = Pick<PetstoreClient['webhooks'], 'create' | 'update' | 'remove' | 'rotateSecret' | 'test'> & {
  list(options: CallOptions): Promise<Page<Webhook>>
  deliveries(
    webhookId: bigint,
    options: CallOptions & { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<Page<WebhookDelivery>>
}

const NOTHING_YET: WebhookListSnapshot = {
  phase: 'loading',
  webhooks: [],
  failure: undefined,
  secrets: new Map(),
}

/** The webhooks of the store as the page knows them, and every call about them. Nothing is asked for by itself. */
export class WebhookList implements Readable<WebhookListSnapshot> {
  readonly #snapshot = new Observable(NOTHING_YET)
  readonly #calls: Calls
  readonly #signal: AbortSignal
  #looking: Promise<void> | undefined
  #askedAt = Number.NEGATIVE_INFINITY
  /** How many changes were answered: what was asked for before one of them is out of date. */
  #changes = 0
  #underWay = 0

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(calls: Calls, signal: AbortSignal) {
    this.#calls = calls
    this.#signal = signal
  }

  /** Whether a change is under way: whoever leaves now does not see its answer, nor a secret that is shown once. */
  isWorking(): boolean {
    return this.#underWay > 0
  }

  /** Looks again. Never rejects: the snapshot tells where it failed. */
  readonly refresh = (): Promise<void> => {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** Looks again whenever the last look is that old and the page is in sight, until the given function is called. */
  follow(everyMs: number): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(timer)
      if (document.visibilityState !== 'visible') return
      const left = this.#askedAt + everyMs - Date.now()
      if (left <= 0) void this.refresh()
      timer = setTimeout(look, left > 0 ? left : everyMs)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }

  async create(draft: NewWebhook): Promise<bigint> {
    const { id, secret, webhook } = withoutSecret(
      await this.#send(this.#calls.create(draft, { signal: this.#signal })),
    )
    this.#changed([...this.get().webhooks.filter((one) => one.id !== id), webhook], { id, secret })
    return id
  }

  async change(webhookId: bigint, update: WebhookUpdate): Promise<void> {
    this.#put(await this.#send(this.#calls.update(webhookId, update, { signal: this.#signal })))
  }

  async remove(webhookId: bigint): Promise<void> {
    await this.#send(this.#calls.remove(webhookId, { signal: this.#signal }))
    this.hideSecret(webhookId)
    this.#changed(this.get().webhooks.filter(({ id }) => id !== webhookId))
  }

  async rotateSecret(webhookId: bigint): Promise<void> {
    const { id, secret, webhook } = withoutSecret(
      await this.#send(this.#calls.rotateSecret(webhookId, { signal: this.#signal })),
    )
    this.#put(webhook, { id, secret })
  }

  test(webhookId: bigint): Promise<WebhookTest> {
    return this.#calls.test(webhookId, { signal: this.#signal })
  }

  deliveries(webhookId: bigint, cursor: string | undefined, limit: number) {
    return this.#calls.deliveries(webhookId, { cursor, limit, signal: this.#signal })
  }

  hideSecret(webhookId: bigint): void {
    const secrets = new Map(this.get().secrets)
    if (secrets.delete(webhookId)) this.#set({ secrets })
  }

  async #send<Answer>(change: Promise<Answer>): Promise<Answer> {
    this.#underWay++
    try {
      return await change
    } finally {
      this.#underWay--
    }
  }

  async #look(): Promise<void> {
    this.#askedAt = Date.now()
    const changes = this.#changes
    try {
      const { items: webhooks } = await this.#calls.list({ signal: this.#signal })
      if (changes !== this.#changes) return this.#look()
      this.#set({ phase: 'ready', webhooks, failure: undefined })
    } catch (error) {
      if (this.#signal.aborted) return
      const phase = this.get().phase === 'ready' ? 'ready' : 'failed'
      this.#set({ phase, failure: webhookFailure(error) })
    }
  }

  #put(webhook: Webhook, secret?: { readonly id: bigint; readonly secret: string }): void {
    this.#changed(
      this.get().webhooks.map((one) => (one.id === webhook.id ? webhook : one)),
      secret,
    )
  }

  #changed(webhooks: readonly Webhook[], secret?: { readonly id: bigint; readonly secret: string }): void {
    this.#changes++
    const { secrets } = this.get()
    const kept = secret === undefined ? secrets : new Map(secrets).set(secret.id, secret.secret)
    this.#set({ webhooks, secrets: kept })
  }

  #set(changes: Partial<WebhookListSnapshot>): void {
    this.#snapshot.set({ ...this.get(), ...changes })
  }
}

function withoutSecret({ secret, ...webhook }: WebhookWithSecret) {
  return { id: webhook.id, secret, webhook }
}
