const STAFF_KEY = 'petstore.api-key'
/** The key that was typed into the docs. It must not become the key of the staff page. */
const DOCS_KEY = 'petstore.docs-key'

/** The key of this tab, or the key that this browser remembers. */
export function storedKey(): string | undefined {
  return sessionStorage.getItem(STAFF_KEY) ?? localStorage.getItem(STAFF_KEY) ?? undefined
}

/** Keeps the key in this tab, or on disk if the user asked to remember it. */
export function keepKey(key: string, remember: boolean): void {
  forgetKey()
  const storage = remember ? localStorage : sessionStorage
  storage.setItem(STAFF_KEY, key)
}

/** The key that was typed into the docs in this tab; without one, the key of the staff page. */
export function storedDocsKey(): string {
  return sessionStorage.getItem(DOCS_KEY) ?? storedKey() ?? ''
}

export function keepDocsKey(key: string): void {
  sessionStorage.setItem(DOCS_KEY, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(STAFF_KEY)
  sessionStorage.removeItem(DOCS_KEY)
  localStorage.removeItem(STAFF_KEY)
}
