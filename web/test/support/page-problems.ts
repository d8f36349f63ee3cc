import type { Page } from 'playwright-core'

/** What a test provokes on purpose: answers with this status, or a service that cannot be reached. */
export type Provoked = number | 'no connection'

/** Everything that must not happen on any view: console errors, uncaught errors, requests to another host. */
export class PageProblems {
  readonly #found: string[] = []
  readonly #host: string
  readonly #provoked: readonly Provoked[]

  constructor(address: string, provoked: readonly Provoked[]) {
    this.#host = new URL(address).host
    this.#provoked = provoked
  }

  watch(page: Page): void {
    page.on('pageerror', (error) => this.#found.push(`uncaught ${error.stack ?? error.message}`))
    page.on('crash', () => this.#found.push('the page crashed'))
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return
      const text = message.text()
      if (!this.#isProvoked(text)) this.#found.push(`console ${message.type()}: ${text}`)
    })
    page.on('request', (request) => {
      const url = new URL(request.url())
      const isLocal = url.protocol === 'data:' || url.protocol === 'blob:' || url.host === this.#host
      if (!isLocal) this.#found.push(`a request to another host: ${request.method()} ${request.url()}`)
    })
  }

  /** Throws where there was one, and names them all. */
  check(): void {
    if (this.#found.length === 0) return
    throw new Error(`the page did what no page may do:\n  ${this.#found.splice(0).join('\n  ')}`)
  }

  /** Chromium logs every failed request by itself; no page can keep it from doing so. */
  #isProvoked(text: string): boolean {
    const status = /^Failed to load resource: the server responded with a status of (\d+)/.exec(text)?.[1]
    if (status !== undefined) return this.#provoked.includes(Number(status))
    return this.#provoked.includes('no connection') && /\bnet::ERR_/.test(text)
  }
}
