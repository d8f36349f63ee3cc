import { agoWords, exactMomentWords, momentWords } from '../data/time-words.ts'

/** When it was: in words that are quick to read, with the local time beside them. */
export function Moment({ at, now }: { readonly at: number; readonly now: number }) {
  return (
    <time className="moment" dateTime={new Date(at).toISOString()} title={exactMomentWords(at)}>
      <span className="moment__ago">{agoWords(at, now)}</span>
      <span className="moment__local number">{momentWords(at)}</span>
    </time>
  )
}
