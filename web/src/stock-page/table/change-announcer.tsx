import { useEffect, useRef, useState } from 'react'
import { useStock } from '../session/session-context.ts'

/** Often enough to follow, seldom enough to be listened to. */
const SPEAK_EVERY_MS = 4_000

/** Tells those who cannot see the marks how many quantities others changed, all in one sentence. */
export function ChangeAnnouncer() {
  const { recentlyChanged, rows } = useStock()
  const [sentence, setSentence] = useState('')
  const told = useRef(new Map<bigint, number>())
  const spokeAt = useRef(0)

  useEffect(() => {
    const news = [...recentlyChanged].filter(([petId, at]) => told.current.get(petId) !== at)
    if (news.length === 0) return
    const speak = () => {
      spokeAt.current = Date.now()
      told.current = new Map(recentlyChanged)
      const [first] = news
      const row = rows.find(({ petId }) => petId === first?.[0])
      setSentence(
        news.length === 1 && row !== undefined
          ? `${row.name ?? `Pet ${row.petId}`} is now ${row.quantity}, changed by somebody else.`
          : `${news.length} rows were changed by others.`,
      )
    }
    const timer = setTimeout(speak, Math.max(0, spokeAt.current + SPEAK_EVERY_MS - Date.now()))
    return () => clearTimeout(timer)
  }, [recentlyChanged, rows])

  return (
    <div className="visually-hidden" role="status">
      {sentence}
    </div>
  )
}
