import { Heading } from '../page-parts.tsx'
import type { Guide } from './guide.ts'

export function GuidePage({ guide: { title, summary, Body } }: { readonly guide: Guide }) {
  return (
    <article className="prose">
      <p className="eyebrow">Guide</p>
      <Heading level={1}>{title}</Heading>
      <p className="lead">{summary}</p>
      <Body />
    </article>
  )
}
