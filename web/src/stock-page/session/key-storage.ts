const STORED_AS = 'petstore.api-key'

/** The key of this tab, or the one that this browser was asked to remember. */
export function storedKey(): string | undefined {
  return sessionStorage.getItem(STORED_AS) ?? localStorage.getItem(STORED_AS) ?? undefined
}

export function keepKey(key: string, remember: boolean): void {
  forgetKey()
  const storage = remember ? localStorage : sessionStorage
  storage.setItem(STORED_AS, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(STORED_AS)
  localStorage.removeItem(STORED_AS)
}

/** Calls back when another tab makes the browser forget its remembered key. */
export function onForgottenElsewhere(listener: () => void): () => void {
  const hear = ({ key, newValue }: StorageEvent) => {
    if ((key === STORED_AS || key === null) && newValue === null) listener()
  }
  addEventListener('storage', hear)
  return () => removeEventListener('storage', hear)
}
