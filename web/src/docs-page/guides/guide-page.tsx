import { baseUrl } from '../contract-context.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeBlock, CodeTabs } from '../samples/code-block.tsx'
import { ContractTable } from './contract-tables.tsx'
import { type Guide, type GuidePart, SAMPLE_BASE_URL } from './guide.ts'

export function GuidePage({ guide: { title, summary, parts } }: { readonly guide: Guide }) {
  return (
    <article className="prose">
      <p className="eyebrow">Guide</p>
      <Heading level={1}>{title}</Heading>
      <p className="lead">{summary}</p>
      {parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </article>
  )
}

function Part({ part }: { readonly part: GuidePart }) {
  const withOwnAddress = (code: string) => code.replaceAll(SAMPLE_BASE_URL, baseUrl())
  switch (part.type) {
    case 'heading':
      return <Heading>{part.title}</Heading>
    case 'html':
      // The build script has rendered this HTML from the Markdown of the guide.
      return <div className="guide-text" dangerouslySetInnerHTML={{ __html: part.html }} />
    case 'code':
      return <CodeBlock title={part.title} language={part.language} code={withOwnAddress(part.code)} />
    case 'samples': {
      const samples = part.samples.map((sample) => ({ ...sample, code: withOwnAddress(sample.code) }))
      return <CodeTabs label={`Samples: ${part.title}`} samples={samples} />
    }
    case 'table':
      return <ContractTable name={part.name} />
  }
}
