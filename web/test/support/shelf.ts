import type { WorkStorage } from '../../src/staff-page/data/kept-work.ts'

/** The storage of a browser, which may be full. */
export class Shelf implements WorkStorage {
  readonly texts = new Map<string, string>()
  isFull = false

  get length(): number {
    return this.texts.size
  }

  key(index: number): string | null {
    return [...this.texts.keys()][index] ?? null
  }

  getItem(name: string): string | null {
    return this.texts.get(name) ?? null
  }

  setItem(name: string, text: string): void {
    if (this.isFull) throw new DOMException('no room', 'QuotaExceededError')
    this.texts.set(name, text)
  }

  removeItem(name: string): void {
    this.texts.delete(name)
  }
}
