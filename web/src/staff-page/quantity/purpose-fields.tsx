import { MAX_LENGTHS, type Reason } from '@petstore/client'
import { REASON_WORDS } from '../data/reason-words.ts'

/** Includes halves of surrogate pairs. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]+/gu

/** The reasons that fit a kind of change; the first is the default. */
export const REASONS_FOR: Readonly<Record<'set' | 'add' | 'subtract', readonly [Reason, ...Reason[]]>> = {
  set: ['corrected', 'counted', 'received', 'returned', 'sold', 'damaged', 'lost'],
  add: ['corrected', 'received', 'returned'],
  subtract: ['corrected', 'sold', 'damaged', 'lost'],
}

interface ReasonProps {
  readonly label?: string
  readonly reasons: readonly Reason[]
  readonly reason: Reason
  readonly onReason: (reason: Reason) => void
}

export function ReasonSelect({ label = 'Reason', reasons, reason, onReason }: ReasonProps) {
  return (
    <select
      className="select reason-select"
      aria-label={label}
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
  )
}

interface Props extends ReasonProps {
  readonly reference: string
  readonly onReference: (text: string) => void
}

/** The reason and the reference of a change; the history of each pet shows both. */
export function PurposeFields({ reference, onReference, ...reason }: Props) {
  return (
    <>
      <ReasonSelect {...reason} />
      <input
        className="input bulk-bar__reference"
        aria-label="Reference"
        autoComplete="off"
        placeholder="Reference, such as PO-1043"
        maxLength={MAX_LENGTHS.InventoryAdjustment.reference}
        value={reference}
        onChange={({ currentTarget }) => onReference(currentTarget.value)}
      />
    </>
  )
}

/** The reference as the service accepts it; `undefined` if there is none. */
export function readReference(text: string): string | undefined {
  const reference = text.replace(CONTROL_CHARACTERS, ' ').trim()
  return reference === '' ? undefined : reference
}
