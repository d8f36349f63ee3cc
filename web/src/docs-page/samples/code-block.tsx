import type { ReactNode } from 'preact/compat'
import { CopyButton } from '../../shared/copy-button.tsx'
import { announceStorageChange, useStoredValue } from '../../shared/stored-value.ts'
import { type CodeLine, colourCode, jsonLines, type Language } from './code-tokens.ts'

interface CodeBlockProps {
  readonly title: string
  readonly code: string
  readonly language: Language
}

export function CodeBlock({ title, code, language }: CodeBlockProps) {
  const lines = language === 'json' ? jsonLines(code) : colourCode(code, language)
  return <CodeFrame header={title} label={title} copies={code} lines={lines} />
}

interface CodeFrameProps {
  /** A title or controls. */
  readonly header: ReactNode
  readonly label: string
  /** The text that the copy button copies. */
  readonly copies: string
  readonly lines: readonly CodeLine[]
}

export function CodeFrame({ header, label, copies, lines }: CodeFrameProps) {
  return (
    <div className="card code-frame">
      <div className="code-frame__header">
        {typeof header === 'string' ? <span className="muted small">{header}</span> : header}
        <CopyButton text={copies} what={label} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <section className="code-area" aria-label={label} tabIndex={0}>
        <Code lines={lines} />
      </section>
    </div>
  )
}

export function Code({ lines }: { readonly lines: readonly CodeLine[] }) {
  return (
    <pre>
      <code>
        {lines.map((line, row) => (
          <span key={row} className="code-line">
            {line.map(({ kind, text }, index) =>
              kind === 'plain' ? (
                text
              ) : (
                <span key={index} className={`code-${kind}`}>
                  {text}
                </span>
              ),
            )}
            {'\n'}
          </span>
        ))}
      </code>
    </pre>
  )
}

export interface CodeSample {
  readonly id: 'curl' | 'client' | 'fetch' | 'python'
  readonly title: string
  readonly language: Language
  readonly code: string
}

const STORAGE_KEY = 'docs-sample'

interface CodeTabsProps {
  readonly label: string
  readonly samples: readonly CodeSample[]
}

/** A sample in several languages. The chosen language applies to all samples, for the session of the tab. */
export function CodeTabs({ label, samples }: CodeTabsProps) {
  const chosen = useStoredValue(() => sessionStorage.getItem(STORAGE_KEY))
  const shown = samples.find(({ id }) => id === chosen) ?? samples[0]
  if (shown === undefined) return null
  const lines = colourCode(shown.code, shown.language)
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
      <CodeFrame header={tabs} label={`${shown.title} sample`} copies={shown.code} lines={lines} />
    </section>
  )
}

function choose(id: CodeSample['id']): void {
  sessionStorage.setItem(STORAGE_KEY, id)
  announceStorageChange()
}
