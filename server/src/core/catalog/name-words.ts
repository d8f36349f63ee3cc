/** Limits for the size of index entries: a decomposed letter may become several. */
const MAX_WORD_LENGTH = 64
const MAX_WORDS_LENGTH = 500

/** Latin, Greek and Cyrillic diacritics. In other scripts a mark makes another letter, so it stays. */
const DIACRITICS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Letters that Unicode does not decompose but people search for without their diacritics. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ς: 'σ',
  ß: 'ss',
}
const OTHER_LETTER = new RegExp(`[${Object.keys(PLAIN_LETTERS).join('')}]`, 'g')

/**
 * The words of a text in the form in which they are compared: without case, diacritics and punctuation. This is done here
 * and not in SQL, so that both databases find the same pets. Words consist of letters, digits and their marks only.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    // The detour through upper case turns variants of a letter, such as ı, into one letter.
    .toUpperCase()
    .toLowerCase()
    .replace(OTHER_LETTER, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .normalize('NFC')
  return Array.from(plain.matchAll(WORD), ([word]) => truncated(word))
}

/** The words of a name as they are stored, separated by blanks. */
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

function truncated(word: string): string {
  return word.length > MAX_WORD_LENGTH ? [...word].slice(0, MAX_WORD_LENGTH).join('') : word
}
