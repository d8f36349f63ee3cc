import { fold } from '../stock/search-text.ts'

/** Whether the service finds a customer by this text: by the start of each word, and by digits anywhere in a number. */
export function customerMatch(query: string): (customer: string | undefined) => boolean {
  const searched = wordsOf(query)
  const starts = searched.filter((word) => !isNumber(word))
  const numbers = searched.join(' ').match(/(?<![^ ])\p{N}+(?: \p{N}+)*(?![^ ])/gu) ?? []
  return (customer) => {
    if (customer === undefined || searched.length === 0) return false
    const words = wordsOf(customer)
    const joined = words.join('')
    return (
      starts.every((start) => words.some((word) => word.startsWith(start))) &&
      numbers.every((digits) => joined.includes(digits.replaceAll(' ', '')))
    )
  }
}

/** Whether a customer can be found by this text. */
export function hasCustomerWords(query: string): boolean {
  return wordsOf(query).length > 0
}

function wordsOf(text: string): readonly string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

function isNumber(word: string): boolean {
  return /^\p{N}+$/u.test(word)
}
