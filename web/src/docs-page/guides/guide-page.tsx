import type { Guide } from './guide.ts'

export function GuidePage({ guide: { title, summary, Body } }: { readonly guide: Guide }) {
  return (
    <article className="prose">
      <p className="eyebrow">Guide</p>
      <h1>{title}</h1>
      <p className="lead">{summary}</p>
      <Body />
    </article>
  )
}
