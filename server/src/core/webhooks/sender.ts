/** What is sent, the same each time. */
export interface Message {
  readonly id: string
  readonly type: string
  readonly body: string
}

export interface SendResult {
  /** Absent where no answer came. */
  readonly status?: number
  readonly durationMs: number
  /** What the answer begins with. */
  readonly response: string
  /** Why it is no success, in words; absent where it is one. */
  readonly error?: string
  /** When the receiver wants to be asked again. */
  readonly retryAfterMs?: number
}

/** Brings messages to addresses of strangers. */
export interface WebhookSender {
  /** Why nothing can be sent to this address, in words for the caller; `undefined` where it can. */
  problemOf(url: string): Promise<string | undefined>
  /** Never rejects. Signed with each of the secrets. */
  send(url: string, secrets: readonly string[], message: Message): Promise<SendResult>
}
