import { useEffect, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { petName } from '../data/stock/stock-model.ts'
import { useSession, useStock } from '../session/session-context.ts'

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
  const { recentlyChanged } = useStock()
  const [sentence, setSentence] = useState('')
  const seen = useRef<ReadonlyMap<bigint, number>>(new Map())
  /** Changes that are not announced yet: their marks may end before the next sentence. */
  const pending = useRef(new Set<bigint>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const announcedAt = useRef(0)

  useEffect(() => {
    for (const [petId, at] of recentlyChanged) if (seen.current.get(petId) !== at) pending.current.add(petId)
    seen.current = recentlyChanged
    if (pending.current.size === 0 || timer.current !== undefined) return
    const announce = () => {
      timer.current = undefined
      announcedAt.current = Date.now()
      const [first = 0n, ...others] = pending.current
      const row = others.length === 0 ? stock.find(first) : undefined
      setSentence(
        row === undefined
          ? `${pending.current.size} rows were changed by others.`
          : `${petName(row)} is now ${row.quantity}, changed by somebody else.`,
      )
      pending.current.clear()
    }
    timer.current = setTimeout(announce, Math.max(0, announcedAt.current + ANNOUNCE_EVERY_MS - Date.now()))
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
