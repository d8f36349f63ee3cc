/** What a name is searched and sorted by is bounded: letters may come apart into many, and indexes take only so much. */
const MAX_WORD_LENGTH = 64
const MAX_WORDS_LENGTH = 500

/** Marks on letters of other scripts stay: there they make another letter. */
const DIACRITICS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Letters that do not come apart into a plain one and a mark, but are looked for as if they did. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ŧ: 't', ς: 'σ' },
}
const OTHER_LETTER = new RegExp(`[${Object.keys(PLAIN_LETTERS).join('')}]`, 'g')

/**
 * The words of a text as they are compared: without regard to case, diacritics and what stands between them. It is done
 * here and not in a database, so that every database finds the same. A word has nothing in it that means something to an
 * index: letters, digits and their marks alone.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    // Both ways: the one knows ß as ss, the other brings all to one case.
    .toUpperCase()
    .toLowerCase()
    .replace(OTHER_LETTER, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .normalize('NFC')
  return Array.from(plain.matchAll(WORD), ([word]) => shortened(word))
}

/** What is stored beside a name: its words, with a blank between them. */
export function nameWords(name: string): string {
  const words: string[] = []
  let length = -1
  for (const word of wordsOf(name)) {
    length += word.length + 1
    if (length > MAX_WORDS_LENGTH) break
    words.push(word)
  }
  return words.join(' ')
}

function shortened(word: string): string {
  return word.length > MAX_WORD_LENGTH ? [...word].slice(0, MAX_WORD_LENGTH).join('') : word
}
