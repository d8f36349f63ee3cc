import { type ReservedSQL, SQL } from 'bun'

/** What runs on one connection. */
export type Session = ReservedSQL

/**
 * The connections of one process. The one that was used last is used next: its server process has plans and pages at
 * hand. See docs/decisions/2026-11-16-postgres-sessions.md.
 */
export class SessionPool {
  readonly #sql: SQL
  readonly #idle: Session[] = []
  #waiting = 0
  #isClosed = false

  constructor(options: SQL.Options, onLoss: () => void) {
    this.#sql = new SQL({
      ...options,
      onclose: () => {
        onLoss()
        // Which one it was is not told: those that are sound come back from there.
        this.#releaseIdle()
      },
    })
  }

  async take(): Promise<Session> {
    const session = this.#idle.pop()
    if (session !== undefined) return session
    this.#waiting++
    try {
      return await this.#sql.reserve()
    } finally {
      this.#waiting--
    }
  }

  /** One that failed inside a transaction is closed by its release, and not used again. */
  giveBack(session: Session, { isSound }: { readonly isSound: boolean }): void {
    if (isSound && this.#waiting === 0 && !this.#isClosed) this.#idle.push(session)
    else void session.release()
  }

  async close(timeoutSeconds: number): Promise<void> {
    this.#isClosed = true
    this.#releaseIdle()
    await this.#sql.close({ timeout: timeoutSeconds })
  }

  #releaseIdle(): void {
    for (const session of this.#idle.splice(0)) void session.release()
  }
}
