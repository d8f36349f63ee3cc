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
import { LiveList } from '../live-list.ts'
import { Observable } from '../observable.ts'
import { webhookFailure } from './webhook-words.ts'

type Calls = Pick<
  PetstoreClient['webhooks'],
  'create' | 'update' | 'remove' | 'rotateSecret' | 'test' | 'replay' | 'takeOver'
> & {
  list(options: CallOptions): Promise<Page<Webhook>>
  deliveries(
    webhookId: bigint,
    options: CallOptions & { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<Page<WebhookDelivery>>
}

const DELIVERIES_PER_PAGE = 25

/** The webhooks of the store, and every request about them. Nothing is loaded before `list.reload` or `follow`. */
export class Webhooks {
  readonly list: LiveList<Webhook>
  /** By the id of the webhook, until the user has kept it: the service does not show a secret again. */
  readonly secrets = new Observable<ReadonlyMap<bigint, string>>(new Map())
  readonly #calls: Calls
  readonly #signal: AbortSignal
  #requestedAt = Number.NEGATIVE_INFINITY
  #changesUnderWay = 0

  constructor(calls: Calls, signal: AbortSignal) {
    this.#calls = calls
    this.#signal = signal
    this.list = new LiveList<Webhook>({
      keyOf: ({ id }) => id,
      compare: (a, b) => (a.id < b.id ? -1 : 1),
      failureWords: webhookFailure,
      load: () => {
        this.#requestedAt = Date.now()
        return calls.list({ signal })
      },
    })
    signal.addEventListener('abort', () => this.list.stop())
  }

  /** Whether a change is under way. A user who leaves now misses the result, and a secret that is shown once. */
  isWorking(): boolean {
    return this.#changesUnderWay > 0
  }

  /** Reloads the list while the page is visible, whenever it is that old. Returns a function that stops it. */
  follow(everyMs: number): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = () => {
      clearTimeout(timer)
      if (document.visibilityState !== 'visible') return
      const left = this.#requestedAt + everyMs - Date.now()
      if (left <= 0) void this.list.reload()
      timer = setTimeout(check, left > 0 ? left : everyMs)
    }
    check()
    document.addEventListener('visibilitychange', check)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', check)
    }
  }

  async create(draft: NewWebhook): Promise<void> {
    this.#takeSecret(await this.#change(this.#calls.create(draft, { signal: this.#signal })))
  }

  async update(webhookId: bigint, update: WebhookUpdate): Promise<void> {
    this.list.put(await this.#change(this.#calls.update(webhookId, update, { signal: this.#signal })))
  }

  async remove(webhookId: bigint): Promise<void> {
    await this.#change(this.#calls.remove(webhookId, { signal: this.#signal }))
    this.hideSecret(webhookId)
    this.list.remove(webhookId)
  }

  async rotateSecret(webhookId: bigint): Promise<void> {
    this.#takeSecret(await this.#change(this.#calls.rotateSecret(webhookId, { signal: this.#signal })))
  }

  /** Sends this event and all later ones again. */
  async replay(webhookId: bigint, from: string): Promise<void> {
    await this.#change(this.#calls.replay(webhookId, { from }, { signal: this.#signal }))
    await this.list.reload()
  }

  async takeOver(webhookId: bigint): Promise<void> {
    this.list.put(await this.#change(this.#calls.takeOver(webhookId, { signal: this.#signal })))
  }

  test(webhookId: bigint): Promise<WebhookTest> {
    return this.#calls.test(webhookId, { signal: this.#signal })
  }

  /** The attempts to deliver events of a webhook, newest first. */
  deliveries(webhookId: bigint): LiveList<WebhookDelivery> {
    return new LiveList<WebhookDelivery>({
      keyOf: ({ id }) => id,
      isLog: true,
      failureWords: webhookFailure,
      load: (cursor) =>
        this.#calls.deliveries(webhookId, { cursor, limit: DELIVERIES_PER_PAGE, signal: this.#signal }),
    })
  }

  hideSecret(webhookId: bigint): void {
    const secrets = new Map(this.secrets.get())
    if (secrets.delete(webhookId)) this.secrets.set(secrets)
  }

  #takeSecret({ secret, ...webhook }: WebhookWithSecret): void {
    this.secrets.set(new Map(this.secrets.get()).set(webhook.id, secret))
    this.list.put(webhook)
  }

  async #change<Answer>(change: Promise<Answer>): Promise<Answer> {
    this.#changesUnderWay++
    try {
      return await change
    } finally {
      this.#changesUnderWay--
    }
  }
}
