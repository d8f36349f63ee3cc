import { useEffect, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { petName } from '../data/stock/stock-model.ts'
import { useSession } from '../session/session-context.ts'

/** Often enough to follow, and rarely enough to listen to. */
const ANNOUNCE_EVERY_MS = 4_000

/** Announces changes to screen readers: the user's own steps at once, those of others together in one sentence. */
export function ChangeAnnouncer() {
  return (
    <>
      <OwnSteps />
      <ChangesByOthers />
    </>
  )
}

function OwnSteps() {
  const { editor, stock } = useSession()
  const edits = useReadable(editor)
  const sentences = [...edits].flatMap(([petId, state]) => {
    const row = stock.find(petId)
    return state.kind === 'stepping' && row !== undefined ? [`${petName(row)}: ${state.target}`] : []
  })
  return (
    <div className="visually-hidden" role="status">
      {sentences.join(', ')}
    </div>
  )
}

function ChangesByOthers() {
  const { stock } = useSession()
  const [sentence, setSentence] = useState('')
  useEffect(() => {
    let seen: ReadonlyMap<bigint, number> = new Map()
    /** Changes that are not announced yet: their marks may end before the next sentence. */
    const pending = new Set<bigint>()
    let timer: ReturnType<typeof setTimeout> | undefined
    let announcedAt = 0
    const announce = () => {
      timer = undefined
      announcedAt = Date.now()
      const [first = 0n, ...others] = pending
      const row = others.length === 0 ? stock.find(first) : undefined
      setSentence(
        row === undefined
          ? `${pending.size} rows were changed by others.`
          : `${petName(row)} is now ${row.quantity}, changed by somebody else.`,
      )
      pending.clear()
    }
    const collect = () => {
      const { recentlyChanged } = stock.get()
      for (const [petId, at] of recentlyChanged) if (seen.get(petId) !== at) pending.add(petId)
      seen = recentlyChanged
      if (pending.size > 0) {
        timer ??= setTimeout(announce, Math.max(0, announcedAt + ANNOUNCE_EVERY_MS - Date.now()))
      }
    }
    collect()
    const unsubscribe = stock.subscribe(collect)
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [stock])
  return (
    <div className="visually-hidden" role="status">
      {sentence}
    </div>
  )
}
