import type { Order } from '@petstore/client'
import { useEffect, useState } from 'react'
import { failureWords } from '../data/failure-words.ts'
import { useSession } from '../session/session-context.ts'

export interface ListedOrders {
  readonly orders: ReadonlyMap<bigint, Order>
  /** Whether these are all open orders. */
  readonly isComplete: boolean
}

const MAX_PAGES = 5
const PAGE_SIZE = 1_000

/** The open orders: loaded once, then kept current by events. */
export function useOpenOrders(): {
  readonly listed: ListedOrders | undefined
  readonly failure: string | undefined
  readonly reload: () => void
} {
  const { client, feed } = useSession()
  const [listed, setListed] = useState<ListedOrders>()
  const [failure, setFailure] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const end = new AbortController()
    let duringLoad: Order[] | undefined = []
    const leave = feed.orders.subscribe((notice) => {
      if (notice.type === 'missed') setAttempt((count) => count + 1)
      else if (duringLoad !== undefined) duringLoad.push(notice.change)
      else setListed((before) => before && withOrders(before, [notice.change]))
    })
    const load = async () => {
      const orders = new Map<bigint, Order>()
      let cursor: string | undefined
      for (let page = 0; page < MAX_PAGES; page++) {
        const { items, next } = await client.orders.list({
          state: 'open',
          limit: PAGE_SIZE,
          cursor,
          signal: end.signal,
        })
        for (const order of items) orders.set(order.id, order)
        cursor = next
        if (cursor === undefined) break
      }
      setListed(withOrders({ orders, isComplete: cursor === undefined }, duringLoad ?? []))
      duringLoad = undefined
      setFailure(undefined)
    }
    load().catch((error: unknown) => {
      if (!end.signal.aborted) setFailure(failureWords(error))
    })
    return () => {
      leave()
      end.abort()
    }
  }, [client, feed, attempt])
  return { listed, failure, reload: () => setAttempt((count) => count + 1) }
}

function withOrders(listed: ListedOrders, changed: readonly Order[]): ListedOrders {
  const orders = new Map(listed.orders)
  for (const order of changed) {
    if (order.state === 'open') orders.set(order.id, order)
    else orders.delete(order.id)
  }
  return { ...listed, orders }
}
