import type { Operation } from '../contract.ts'
import { baseUrlOf, useContract } from '../contract-context.tsx'
import { CodeTabs } from './code-tabs.tsx'
import type { RequestDraft } from './request-draft.ts'
import { requestSamples } from './request-samples.ts'

/** The request in several languages, as it is filled in. */
export function SampleTabs({
  operation,
  draft,
}: {
  readonly operation: Operation
  readonly draft: RequestDraft
}) {
  const contract = useContract()
  const samples = requestSamples(contract, operation, draft, baseUrlOf(contract))
  return <CodeTabs label="Request samples" samples={samples} />
}
