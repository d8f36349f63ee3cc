import { useEffect, useState } from 'preact/compat'
import { copyText } from './copy-text.ts'

const SHOW_DONE_MS = 1_600

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>()

  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), SHOW_DONE_MS)
    return () => clearTimeout(timer)
  }, [outcome])

  const copy = () => {
    copyText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    )
  }
  return (
    <button type="button" className="button button--quiet button--small copy-button" onClick={copy}>
      <span aria-live="polite">
        {outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Not allowed here' : 'Copy'}
      </span>
      <span className="visually-hidden"> {what}</span>
    </button>
  )
}
