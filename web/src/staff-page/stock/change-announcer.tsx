import { useEffect, useRef, useState } from 'react'
import { useSession, useStock } from '../session/session-context.ts'

/** Often enough to follow, seldom enough to be listened to. */
const SPEAK_EVERY_MS = 4_000

/** Tells those who cannot see the marks how many quantities others changed, all in one sentence. */
export function ChangeAnnouncer() {
  const { stock } = useSession()
  const { recentlyChanged } = useStock()
  const [sentence, setSentence] = useState('')
  const seen = useRef<ReadonlyMap<bigint, number>>(new Map())
  /** What is yet to be told: marks do not last until the next sentence. */
  const news = useRef(new Set<bigint>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const spokeAt = useRef(0)

  useEffect(() => {
    for (const [petId, at] of recentlyChanged) if (seen.current.get(petId) !== at) news.current.add(petId)
    seen.current = recentlyChanged
    if (news.current.size === 0 || timer.current !== undefined) return
    const speak = () => {
      timer.current = undefined
      spokeAt.current = Date.now()
      const [first = 0n, ...others] = news.current
      const row = others.length === 0 ? stock.find(first) : undefined
      setSentence(
        row === undefined
          ? `${news.current.size} rows were changed by others.`
          : `${row.name ?? `Pet ${row.petId}`} is now ${row.quantity}, changed by somebody else.`,
      )
      news.current.clear()
    }
    timer.current = setTimeout(speak, Math.max(0, spokeAt.current + SPEAK_EVERY_MS - Date.now()))
  }, [recentlyChanged, stock])

  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )

  return (
    <div className="visually-hidden" role="status">
      {sentence}
    </div>
  )
}
