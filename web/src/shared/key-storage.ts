const STAFF_KEY = 'petstore.api-key'
/** The key that was typed into the docs. It must not become the key of the staff page. */
const DOCS_KEY = 'petstore.docs-key'
/** Set if the reader has asked to send with the key of the staff page. */
const DOCS_USE_STAFF_KEY = 'petstore.docs-use-staff-key'

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

/** The key that was typed into the docs in this tab, or the key of the staff page if the reader asked for it. */
export function storedDocsKey(): string {
  const usesStaffKey = sessionStorage.getItem(DOCS_USE_STAFF_KEY) !== null
  return (usesStaffKey ? storedKey() : sessionStorage.getItem(DOCS_KEY)) ?? ''
}

export function keepDocsKey(key: string): void {
  sessionStorage.removeItem(DOCS_USE_STAFF_KEY)
  sessionStorage.setItem(DOCS_KEY, key)
}

export function shareStaffKeyWithDocs(): void {
  sessionStorage.setItem(DOCS_USE_STAFF_KEY, 'yes')
}

export function forgetKey(): void {
  sessionStorage.removeItem(STAFF_KEY)
  sessionStorage.removeItem(DOCS_KEY)
  sessionStorage.removeItem(DOCS_USE_STAFF_KEY)
  localStorage.removeItem(STAFF_KEY)
}
