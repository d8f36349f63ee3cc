/** One lane of the hash: a seed and two odd multipliers, other ones in each lane. */
const LANES = [
  { seed: 0x9e3779b1, first: 0xcc9e2d51, second: 0x1b873593 },
  { seed: 0x85ebca77, first: 0x239b961b, second: 0xab0e9789 },
  { seed: 0xc2b2ae3d, first: 0x38b34ae5, second: 0xa1e38b93 },
  { seed: 0x27d4eb2f, first: 0x5f356495, second: 0x32c27de3 },
] as const

/**
 * Tells one content from another by the sum of a 128-bit hash of each entry. The sum does not depend on the order
 * in which entries came, so an entry is added or taken out in constant time, and every instance that holds the
 * same entries has the same tag, after a restart too.
 *
 * The hash is of the murmur family: quick, well mixed, and not meant to withstand somebody who constructs
 * collisions, which would gain a caller nothing but a stale copy of his own list.
 */
export class ContentTag {
  readonly #sums = new Uint32Array(4)
  #entries = 0

  /** `words` are the entry's bits, in pieces of 32. */
  add(words: ArrayLike<number>): void {
    this.#entries++
    for (let lane = 0; lane < 4; lane++) this.#sums[lane] = (this.#sums[lane] ?? 0) + hash(words, lane)
  }

  remove(words: ArrayLike<number>): void {
    this.#entries--
    for (let lane = 0; lane < 4; lane++) this.#sums[lane] = (this.#sums[lane] ?? 0) - hash(words, lane)
  }

  toString(): string {
    const sums = [...this.#sums].map((sum) => sum.toString(16).padStart(8, '0'))
    return `${this.#entries.toString(36)}-${sums.join('')}`
  }
}

function hash(words: ArrayLike<number>, lane: number): number {
  const { seed, first, second } = LANES[lane] ?? LANES[0]
  let hash: number = seed
  for (let index = 0; index < words.length; index++) {
    let word = Math.imul(words[index] ?? 0, first)
    word = Math.imul((word << 15) | (word >>> 17), second)
    hash ^= word
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64
  }
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
