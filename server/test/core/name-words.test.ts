import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MAX_NAME_LENGTH } from '../../src/core/catalog/catalog-fields.ts'
import { nameWords, wordsOf } from '../../src/core/catalog/name-words.ts'

describe('the words of a name', () => {
  test.each([
    ['Golden Retriever', 'golden retriever'],
    ['  Müller’s  Kätzchen, 8-weeks ', 'muller s katzchen 8 weeks'],
    ['Mu\u0308ller', 'muller'],
    ['STRASSE Straße STRAẞE', 'strasse strasse strasse'],
    ['Ærø Łódź Œuvre Đỗ', 'aero lodz oeuvre do'],
    ['ΟΔΟΣ οδος', 'οδοσ οδοσ'],
    ['İstanbul ıl', 'istanbul il'],
    ['ﬁsh ２３', 'fish 23'],
    ['のガ ｶﾞ', 'のガ ガ'],
    ['हिन्दी', 'हिन्दी'],
    ['a\u00a0b_c%d"e\'f', 'a b c d e f'],
    ['🐶!', ''],
  ])('%p is %p', (name, words) => {
    expect(nameWords(name)).toBe(words)
  })

  test('are stable: folding them again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: MAX_NAME_LENGTH }), (name) => {
        const words = nameWords(name)
        expect(nameWords(words)).toBe(words)
        expect(words).toMatch(/^(?:[\p{L}\p{N}\p{M}]+(?: [\p{L}\p{N}\p{M}]+)*)?$/u)
      }),
      { numRuns: 2_000 },
    )
  })

  test('are bounded, though a letter may expand into many', () => {
    const longest = nameWords('\ufdfa'.repeat(MAX_NAME_LENGTH))
    expect(longest.length).toBeLessThanOrEqual(500)
    expect(wordsOf('𝒳y'.repeat(MAX_NAME_LENGTH))).toEqual(['xy'.repeat(32)])
    expect(wordsOf('𐐨'.repeat(MAX_NAME_LENGTH))).toEqual(['𐐨'.repeat(64)])
  })
})
