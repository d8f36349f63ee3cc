/** The words must fit into an index entry. They can be longer than the name, because one letter can become several. */
const MAX_WORD_LENGTH = 64
const MAX_JOINED_LENGTH = 500

/** Diacritics of Latin, Greek and Cyrillic. Marks of other scripts are kept, because removing them would change the letter. */
const DIACRITICS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Letters that people may type in a plain form, but that Unicode does not decompose. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
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
const LETTER_TO_REPLACE = new RegExp(`[${Object.keys(REPLACEMENTS).join('')}]`, 'g')

/** The words of a text as searches compare them, without case and diacritics. Computed here, because SQLite and PostgreSQL differ. */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    // Converting to upper case first merges variants of a letter, such as ı and i.
    .toUpperCase()
    .toLowerCase()
    .replace(LETTER_TO_REPLACE, (letter) => REPLACEMENTS[letter] ?? letter)
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .normalize('NFC')
  return Array.from(plain.matchAll(WORD), ([word]) => truncate(word))
}

/** The words of a name as they are stored, separated by blanks. */
export function nameWords(name: string): string {
  const words: string[] = []
  let length = -1 // The first word has no blank before it.
  for (const word of wordsOf(name)) {
    length += word.length + 1
    if (length > MAX_JOINED_LENGTH) break
    words.push(word)
  }
  return words.join(' ')
}

function truncate(word: string): string {
  return word.length > MAX_WORD_LENGTH ? [...word].slice(0, MAX_WORD_LENGTH).join('') : word
}
