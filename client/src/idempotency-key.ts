const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** The caller's own, or a new one. Throws `TypeError` on one that no header can carry. */
export function readIdempotencyKey(given: string | undefined): string {
  if (given === undefined) return newKey()
  if (VISIBLE_ASCII.test(given)) return given
  throw new TypeError(
    `idempotencyKey must be 1 to 255 visible ASCII characters, got ${given.length}: ${JSON.stringify(given.slice(0, 40))}`,
  )
}

/** A browser has no `crypto.randomUUID` on a page that came over plain HTTP, as in a shop's own network. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
