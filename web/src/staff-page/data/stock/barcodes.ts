interface Coded {
  readonly petId: bigint
  readonly barcode?: string | undefined
}

/** The pet behind each barcode, and the barcode of each pet. */
export class Barcodes {
  readonly #petIds = new Map<string, bigint>()
  readonly #codes = new Map<bigint, string>()

  /** Also finds the twelve digits of a UPC with or without the leading 0 that some scanners add. */
  find(barcode: string): bigint | undefined {
    return this.#petIds.get(barcode) ?? this.#petIds.get(otherForm(barcode))
  }

  /** Sets the barcodes of these pets, or removes them. */
  take(entries: readonly Coded[]): void {
    // Two pets may have swapped their barcodes.
    for (const { petId } of entries) this.#forget(petId)
    for (const { petId, barcode } of entries) {
      if (barcode === undefined) continue
      const before = this.#petIds.get(barcode)
      if (before !== undefined) this.#codes.delete(before)
      this.#petIds.set(barcode, petId)
      this.#codes.set(petId, barcode)
    }
  }

  /** The barcode of each pet that has one. */
  byPet(): ReadonlyMap<bigint, string> {
    return this.#codes
  }

  #forget(petId: bigint): void {
    const barcode = this.#codes.get(petId)
    if (barcode === undefined) return
    this.#codes.delete(petId)
    this.#petIds.delete(barcode)
  }
}

function otherForm(barcode: string): string {
  return /^0\d{12}$/.test(barcode) ? barcode.slice(1) : `0${barcode}`
}
