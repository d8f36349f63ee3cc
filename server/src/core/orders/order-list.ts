import { nameWords } from '../catalog/name-words.ts'
import { parseInt64 } from '../values/field.ts'
import { type Page, type PageRequest, readPage, readPageById, unknownCursor } from '../values/page.ts'
import { customerWordsOf, type Order } from './order.ts'
import type { OrderFilter, OrderPosition, OrderStore } from './order-store.ts'

interface OrderQuery extends PageRequest, Pick<OrderFilter, 'state' | 'petId'> {
  /** Only orders whose customer begins with this text; case, diacritics and punctuation are ignored. */
  readonly customer: string | undefined
}

/** Reads a page of orders, sorted by customer and id if a customer is given, otherwise by id. */
export function readOrderPage(
  store: Pick<OrderStore, 'listOrders'>,
  { state, petId, customer, ...request }: OrderQuery,
): Promise<Page<Order>> {
  if (customer === undefined) {
    return readPageById(request, (limit, id) =>
      store.listOrders({ state, petId, after: id === undefined ? undefined : { id } }, limit),
    )
  }
  const customerPrefix = nameWords(customer)
  return readPage(request, {
    positionOf: (cursor) => fromCursor(cursor, customerPrefix),
    read: (limit, after) => store.listOrders({ state, petId, customerPrefix, after }, limit),
    cursorOf: (order) => toCursor(positionOf(order)),
  })
}

export function positionOf(order: Order): OrderPosition {
  return { id: order.id, customerWords: customerWordsOf(order) }
}

function toCursor({ id, customerWords = '' }: OrderPosition): string {
  return `${id}.${Buffer.from(customerWords).toString('base64url')}`
}

function fromCursor(cursor: string, customerPrefix: string): OrderPosition {
  const [idText = '', encodedWords = ''] = cursor.split('.')
  const id = parseInt64(idText)
  const customerWords = Buffer.from(encodedWords, 'base64url').toString()
  // If the cursor is from a list of other customers, or was made up, the page would start outside this list.
  if (id === undefined || !customerWords.startsWith(customerPrefix) || customerWords.includes('\0')) {
    throw unknownCursor(cursor)
  }
  return { id, customerWords }
}

export function isSearchableCustomer(text: string): boolean {
  return nameWords(text) !== ''
}
