import { describe, expect, test } from 'bun:test'
import { isName } from '../../src/core/catalog/catalog-fields.ts'
import { NEW_CATEGORY } from '../../src/core/catalog/category.ts'
import { NEW_PET } from '../../src/core/catalog/pet.ts'
import { codecOf } from '../../src/core/values/field.ts'
import { createKey } from '../../src/http/keys.ts'

describe('a name', () => {
  test.each([
    ['zero-width spaces', '\u200b\u200b'],
    ['joiners and a word joiner', '\u200d\u200c\u2060'],
    ['a byte order mark', '\ufeff'],
    ['soft hyphens between blanks', ' \u00ad \u00ad '],
    ['a Hangul filler', '\u3164'],
    ['a braille blank', '\u2800'],
    ['a variation selector', '\ufe0f'],
  ])('is not %s alone', (_, text) => {
    expect(isName(text)).toBeFalse()
    expect(isName(`Rex${text}`)).toBeTrue()
  })

  test.each([0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069])(
    'does not contain the character %p, which changes the direction of text',
    (code) => {
      expect(isName(`Rex ${String.fromCodePoint(code)}gpj`)).toBeFalse()
    },
  )

  test('may be in any script, and an emoji of several parts', () => {
    const names = ['ביסקוויט', 'بسكويت', 'می‌خواهم', 'हिन्दी', '👩‍👧', '❤️', '١٢']
    expect(names.filter((name) => !isName(name))).toEqual([])
  })

  test('follows the same rule for pets, categories and keys', () => {
    const names = [NEW_PET.name, NEW_CATEGORY.name, createKey.body?.properties.name]
    for (const schema of names) {
      expect(schema).toBeDefined()
      if (schema !== undefined) expect(codecOf('name', schema).fromJson('Rex\u202e')).toBeUndefined()
    }
  })
})
