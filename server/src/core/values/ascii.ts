/**
 * Text written straight into bytes, for what is written so often that strings in between would cost the most. Each
 * function writes at a place in the buffer and tells where the next one goes on.
 */

const ZERO = '0'.charCodeAt(0)

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function putBytes(buffer: Uint8Array, at: number, bytes: Uint8Array): number {
  // Pieces are short: a call of `set` would take longer than its work.
  for (let index = 0; index < bytes.length; index++) buffer[at + index] = bytes[index] ?? 0
  return at + bytes.length
}

/** An integer from 0 to the largest safe one. */
export function putInteger(buffer: Uint8Array, at: number, value: number): number {
  // Beyond 31 bits the divisions would be those of doubles, and no quicker than this.
  if (value > 0x7fff_ffff) return putBytes(buffer, at, bytesOf(String(value)))
  const end = at + digitsOf(value)
  let place = end
  let rest = value
  do {
    const next = (rest / 10) | 0
    buffer[--place] = ZERO + rest - next * 10
    rest = next
  } while (rest > 0)
  return end
}

function digitsOf(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  return digits
}
