import { WrongAnswer } from './checks.ts'
import { spreadOf } from './statistics.ts'
import { ORDERS_PATH } from './target.ts'

export const FAIRNESS_SECONDS = 2

/** How evenly those get on who all want the same. */
export interface Fairness {
  readonly callers: number
  /** Answers of the caller that got the fewest, as a part of the median caller's. */
  readonly slowestToMedian: number
  /** The longest that anybody waited for an answer. */
  readonly longestMs: number
}

/** Callers who order one pet, one piece after the other, each counted by itself, which wrk does not do. */
export async function measureFairness(
  where: { readonly urls: readonly string[]; readonly secret: string; readonly petId: number },
  callers: number,
): Promise<Fairness> {
  const { urls, secret, petId } = where
  const body = JSON.stringify({ petId, quantity: 1 })
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const end = performance.now() + FAIRNESS_SECONDS * 1000
  let longestMs = 0
  const caller = async (index: number): Promise<number> => {
    const url = `${urls[index % urls.length]}${ORDERS_PATH}`
    let answers = 0
    while (performance.now() < end) {
      const sent = performance.now()
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      if (response.status !== 201) throw new WrongAnswer(`an order was answered with ${response.status}`)
      longestMs = Math.max(longestMs, performance.now() - sent)
      answers++
    }
    return answers
  }
  const answers = await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  const { min, median } = spreadOf(answers)
  return { callers, slowestToMedian: min / median, longestMs }
}
