import { type ReactNode, useSyncExternalStore } from 'preact/compat'
import { CopyButton } from '../../shared/copy-button.tsx'
import { type CodeLine, colourCode, type Language, plainLines } from './code-tokens.ts'
import { layOutJson } from './json-text.ts'

export function CodeBlock({
  title,
  code,
  language,
}: {
  readonly title: string
  readonly code: string
  readonly language: Language | 'json'
}) {
  const lines =
    language === 'json' ? (layOutJson(code)?.lines ?? plainLines(code)) : colourCode(code, language)
  return (
    <CodeFrame header={<span className="muted small">{title}</span>} label={title} copies={code}>
      <CodeLines lines={lines} />
    </CodeFrame>
  )
}

export function CodeFrame({
  header,
  label,
  copies,
  children,
}: {
  readonly header: ReactNode
  readonly label: string
  /** The text that the copy button copies. */
  readonly copies: string
  readonly children: ReactNode
}) {
  return (
    <div className="card code-frame">
      <div className="code-frame__header">
        {header}
        <CopyButton text={copies} what={label} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <section className="code-area" aria-label={label} tabIndex={0}>
        <pre>
          <code>{children}</code>
        </pre>
      </section>
    </div>
  )
}

export function CodeLines({ lines }: { readonly lines: readonly CodeLine[] }) {
  return lines.map((line, row) => (
    <span key={row} className="code-line">
      {line.map(({ kind, text }, place) =>
        kind === 'plain' ? (
          text
        ) : (
          <span key={place} className={`code-${kind}`}>
            {text}
          </span>
        ),
      )}
      {'\n'}
    </span>
  ))
}

/** A sample in one language. */
export interface CodeSample {
  readonly id: 'curl' | 'client' | 'fetch' | 'python'
  readonly title: string
  readonly language: Language
  readonly code: string
}

const CHOSEN = 'docs-sample'
const listeners = new Set<() => void>()

/** A sample in several languages. The chosen language applies to all samples, for the session of the tab. */
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
