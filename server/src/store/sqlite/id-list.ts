const FEWEST = 1_024

/** Ids in one flat array. As bigints in a plain one, each is an object that every collection of garbage looks at. */
export class IdList {
  #ids = new BigInt64Array(FEWEST)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(id: bigint): void {
    if (this.#length === this.#ids.length) {
      const larger = new BigInt64Array(2 * this.#length)
      larger.set(this.#ids)
      this.#ids = larger
    }
    this.#ids[this.#length++] = id
  }

  sorted(): BigInt64Array {
    return this.#ids.slice(0, this.#length).sort()
  }
}
