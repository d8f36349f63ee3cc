import { wordsOf } from '../catalog/name-words.ts'
import { type Page, type PageRequest, readPageById } from '../values/page.ts'
import type { Order } from './order.ts'
import type { CustomerSearch, OrderFilter, OrderStore } from './order-store.ts'

interface OrderQuery extends PageRequest, Omit<OrderFilter, 'customer' | 'after'> {
  /** Only orders that `customerSearch` of this text finds. */
  readonly customer: string | undefined
}

export function readOrderPage(
  store: Pick<OrderStore, 'listOrders'>,
  { limit: pageSize, cursor, customer, ...filter }: OrderQuery,
): Promise<Page<Order>> {
  const search = customer === undefined ? undefined : customerSearch(customer)
  return readPageById({ limit: pageSize, cursor }, (limit, after) =>
    store.listOrders({ ...filter, customer: search, after }, limit),
  )
}

/** Digits that follow each other, with or without blanks and punctuation, are one number, such as a telephone number. */
export function customerSearch(text: string): CustomerSearch {
  const wordStarts: string[] = []
  const numbers: string[] = []
  let isInNumber = false
  for (const word of wordsOf(text)) {
    const isNumber = /^\p{N}+$/u.test(word)
    if (!isNumber) wordStarts.push(word)
    else if (isInNumber) numbers.push(`${numbers.pop()}${word}`)
    else numbers.push(word)
    isInNumber = isNumber
  }
  return { wordStarts, numbers }
}

export function isSearchableCustomer(text: string): boolean {
  return wordsOf(text).length > 0
}
