import 'fake-indexeddb/auto'
import type { WorkPlace } from '../../src/staff-page/data/work/draft.ts'
import { Outbox } from '../../src/staff-page/data/work/outbox.ts'
import type { Desk } from './desk.ts'

const PERSON = { id: 'key_1', name: 'Anna' }

/** The browser of a device, with tabs that share what is kept. */
export class Device {
  readonly #name = `device ${crypto.randomUUID()}`
  readonly #storage = new Map<string, string>()
  readonly #tabs: AbortController[] = []

  /** Opens another tab, in which a person works. */
  async openTab(desk: Desk, owner = PERSON): Promise<WorkPlace> {
    const tab = new AbortController()
    this.#tabs.push(tab)
    const saving = { ...desk.saving, signal: tab.signal }
    const outbox = new Outbox(this.#name)
    await outbox.reload()
    outbox.start(saving, owner)
    return { outbox, saving, owner }
  }

  /** Nothing is sent any more. */
  closeTabs(): void {
    for (const tab of this.#tabs.splice(0)) tab.abort()
  }

  readonly storage = {
    getItem: (name: string): string | null => this.#storage.get(name) ?? null,
    setItem: (name: string, text: string): void => void this.#storage.set(name, text),
  }
}
