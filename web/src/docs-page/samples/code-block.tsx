import type { ReactNode } from 'react'
import { CopyButton } from '../../shared/copy-button.tsx'
import { colourCode, type Language } from './code-colours.ts'
import { type CodeLine, plainLines } from './code-token.ts'
import { layOutJson } from './json-text.ts'

/** A framed piece of code with a title and a button that copies it. */
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
    <CodeFrame header={<span className="code-frame__title">{title}</span>} label={title} copies={code}>
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
  /** What the copy button gives. */
  readonly copies: string
  readonly children: ReactNode
}) {
  return (
    <div className="code-frame">
      <div className="code-frame__header">
        {header}
        <CopyButton text={copies} what={label} />
      </div>
      <CodeArea label={label}>{children}</CodeArea>
    </div>
  )
}

/** Code that is wider than its frame is scrolled, with the keyboard too. */
export function CodeArea({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be within reach of the keyboard
    <section className="code-area" aria-label={label} tabIndex={0}>
      <pre>
        <code>{children}</code>
      </pre>
    </section>
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
