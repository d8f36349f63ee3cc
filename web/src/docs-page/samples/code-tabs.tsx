import { useSyncExternalStore } from 'react'
import { CodeFrame, CodeLines } from './code-block.tsx'
import { colourCode, type Language } from './code-colours.ts'

/** The same in the words of one tool. */
export interface CodeSample {
  readonly id: 'curl' | 'client' | 'fetch' | 'python'
  readonly title: string
  readonly language: Language
  readonly code: string
}

const CHOSEN = 'docs-sample'
const listeners = new Set<() => void>()

/** The same in several languages. Which one was chosen last holds for all of them, and stays for the tab. */
export function CodeTabs({
  label,
  samples,
}: {
  readonly label: string
  readonly samples: readonly CodeSample[]
}) {
  const chosen = useSyncExternalStore(subscribe, () => sessionStorage.getItem(CHOSEN))
  const shown = samples.find(({ id }) => id === chosen) ?? samples[0]
  if (shown === undefined) return null
  const tabs = (
    <fieldset className="segmented" aria-label="Language of the sample">
      {samples.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          className="segmented__option"
          aria-pressed={id === shown.id}
          onClick={() => choose(id)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
  return (
    <section aria-label={label}>
      <CodeFrame header={tabs} label={`${shown.title} sample`} copies={shown.code}>
        <CodeLines lines={colourCode(shown.code, shown.language)} />
      </CodeFrame>
    </section>
  )
}

function choose(id: CodeSample['id']): void {
  sessionStorage.setItem(CHOSEN, id)
  for (const listener of [...listeners]) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
