import type { Reason } from '@petstore/client'
import { useId } from 'react'
import { REASON_WORDS } from '../data/reason-words.ts'

/** Shorter than the service allows, so that an undo has room to name it. */
const MAX_REFERENCE_LENGTH = 190
/** And halves of characters. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]+/gu

interface Props {
  readonly reasons: readonly Reason[]
  readonly reason: Reason
  readonly reference: string
  readonly onReason: (reason: Reason) => void
  readonly onReference: (text: string) => void
}

/** What a change is made for, and what it refers to: both stand in the history of each pet. */
export function PurposeFields({ reasons, reason, reference, onReason, onReference }: Props) {
  const id = useId()
  return (
    <>
      <label htmlFor={`${id}-reason`} className="visually-hidden">
        Reason
      </label>
      <select
        id={`${id}-reason`}
        className="select bulk-bar__reason"
        value={reason}
        onChange={({ currentTarget }) => {
          const chosen = reasons.find((each) => each === currentTarget.value)
          if (chosen !== undefined) onReason(chosen)
        }}
      >
        {reasons.map((each) => (
          <option key={each} value={each}>
            {REASON_WORDS[each]}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-reference`} className="visually-hidden">
        Reference
      </label>
      <input
        id={`${id}-reference`}
        className="input bulk-bar__reference"
        autoComplete="off"
        placeholder="Reference, such as PO-1043"
        maxLength={MAX_REFERENCE_LENGTH}
        value={reference}
        onChange={({ currentTarget }) => onReference(currentTarget.value)}
      />
    </>
  )
}

/** The reference as the service takes it; `undefined` where there is none. */
export function readReference(text: string): string | undefined {
  const reference = text.replace(CONTROL_CHARACTERS, ' ').trim()
  return reference === '' ? undefined : reference
}
