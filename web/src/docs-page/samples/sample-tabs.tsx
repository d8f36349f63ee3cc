import { useState } from 'react'
import type { Operation } from '../contract.ts'
import { baseUrlOf, useContract } from '../contract-context.tsx'
import { CodeFrame, CodeLines } from './code-block.tsx'
import { colourCode } from './code-colours.ts'
import type { RequestDraft } from './request-draft.ts'
import { type RequestSample, requestSamples } from './request-samples.ts'

const CHOSEN = 'docs-sample'

/** The request in several languages, as it is filled in; which one was chosen last stays for the tab. */
export function SampleTabs({
  operation,
  draft,
}: {
  readonly operation: Operation
  readonly draft: RequestDraft
}) {
  const contract = useContract()
  const [chosen, setChosen] = useState(() => sessionStorage.getItem(CHOSEN))
  const samples = requestSamples(contract, operation, draft, baseUrlOf(contract))
  const shown = samples.find(({ id }) => id === chosen) ?? samples[0]
  if (shown === undefined) return null
  const choose = (id: RequestSample['id']) => {
    sessionStorage.setItem(CHOSEN, id)
    setChosen(id)
  }
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
    <section aria-label="Request samples">
      <CodeFrame header={tabs} label={`${shown.title} sample`} copies={shown.code}>
        <CodeLines lines={colourCode(shown.code, shown.language)} />
      </CodeFrame>
    </section>
  )
}
