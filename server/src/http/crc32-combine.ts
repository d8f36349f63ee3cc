const POLYNOMIAL = 0xedb88320

/** A linear map over 32 bits: `map[n]` is what bit n becomes. */
type BitMap = Uint32Array

/** What appending 2^n zero bytes does to a checksum, each made from the one before it. */
const APPEND_ZEROS: BitMap[] = [appendOneZeroByte()]

/** The CRC-32 of two texts joined, from those of each and the length of the second. */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  let shifted = first
  for (let power = 0, rest = secondLength; rest > 0; power++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shifted = applied(appendZeros(power), shifted)
  }
  return (shifted ^ second) >>> 0
}

function appendZeros(power: number): BitMap {
  let map = APPEND_ZEROS[power]
  if (map === undefined) {
    const half = appendZeros(power - 1)
    map = half.map((image) => applied(half, image))
    APPEND_ZEROS[power] = map
  }
  return map
}

function appendOneZeroByte(): BitMap {
  return Uint32Array.from({ length: 32 }, (_, bit) => {
    let value = (1 << bit) >>> 0
    for (let step = 0; step < 8; step++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
    return value >>> 0
  })
}

function applied(map: BitMap, value: number): number {
  let result = 0
  for (let bit = 0, rest = value >>> 0; rest !== 0; bit++, rest >>>= 1) {
    if (rest & 1) result ^= map[bit] ?? 0
  }
  return result >>> 0
}
