import { isPetstoreError, MAX_LENGTHS, type Order } from '@petstore/client'
import { useRef, useState } from 'preact/compat'
import { linesWords, orderFailure } from '../data/orders/order-words.ts'
import { randomId } from '../data/stock/adjustment-batch.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { PetFilter } from '../scanner/pet-filter.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { SelectField } from '../ui/select-field.tsx'
import { useAttempt } from '../ui/use-attempt.ts'

const AS_IT_IS = { value: -1, label: 'As it is' }
/** How long the pets are kept from now on, in seconds; 0 is without a time limit. */
const HOLDS = [
  { value: 900, label: '15 minutes' },
  { value: 3_600, label: '1 hour' },
  { value: 86_400, label: '1 day' },
  { value: 3 * 86_400, label: '3 days' },
  { value: 7 * 86_400, label: '7 days' },
  { value: 0, label: 'No time limit' },
]
const A_DAY = 86_400

interface Line {
  readonly petId: bigint
  readonly quantity: number
}

interface Props {
  readonly lines: readonly Line[]
  /** The order to change; without one, the lines are reserved for a customer. */
  readonly order?: Order
  readonly onSaved?: () => void
  readonly onClose: () => void
}

/** Reserves pets for a customer, or changes an open order: its pets, its customer and its hold. */
export function OrderDialog({ lines: firstLines, order, onSaved, onClose }: Props) {
  const { stock, orderActions } = useSession()
  const { customer = '', note = '' } = order ?? {}
  const start = { customer, note, hold: order === undefined ? A_DAY : AS_IT_IS.value }
  const [fields, setFields] = useState(start)
  const [amounts, setAmounts] = useState<ReadonlyMap<bigint, string>>(
    () => new Map(firstLines.map(({ petId, quantity }) => [petId, String(quantity)])),
  )
  const nameOf = (petId: bigint) => stock.nameOf(petId)
  const { failure, setFailure, isBusy, attempt } = useAttempt((error) => orderFailure(error, nameOf))
  /** A lost response does not reserve twice: what was sent keeps its key. */
  const idempotencyKey = useRef(randomId())
  const renew = () => {
    idempotencyKey.current = randomId()
    setFailure(undefined)
  }
  const change = (changes: Partial<typeof fields>) => {
    renew()
    setFields({ ...fields, ...changes })
  }
  const setAmount = (petId: bigint, text: string) => {
    renew()
    setAmounts(new Map(amounts).set(petId, text))
  }
  const send = (lines: readonly Line[]) => {
    const [who, what] = [fields.customer.trim(), fields.note.trim()]
    const seconds = fields.hold
    if (order === undefined) {
      const draft = { lines, customer: who, note: what || undefined, holdSeconds: seconds || undefined }
      return orderActions.create(draft, idempotencyKey.current)
    }
    return orderActions.change(order.id, {
      lines: linesWords(lines, String) === linesWords(firstLines, String) ? undefined : lines,
      customer: who === customer ? undefined : who || null,
      note: what === note ? undefined : what || null,
      holdSeconds: seconds === AS_IT_IS.value ? undefined : seconds || null,
    })
  }
  const save = async (close: () => void) => {
    const lines = [...amounts].map(([petId, text]) => ({ petId, quantity: readQuantity(text) ?? Number.NaN }))
    const wanted = lines.filter(({ quantity }) => quantity !== 0)
    if (wanted.some(({ quantity }) => Number.isNaN(quantity))) return setFailure('Enter whole numbers.')
    if (wanted.length === 0) return setFailure('Enter how many, at least 1 of a pet.')
    if (order === undefined && fields.customer.trim() === '') {
      return setFailure('Enter the name of the customer.')
    }
    try {
      await send(wanted)
    } catch (error) {
      if (!isPetstoreError(error) || !error.mayHaveBeenMade) idempotencyKey.current = randomId()
      throw error
    }
    onSaved?.()
    close()
  }
  useStock()
  return (
    <Dialog
      title={order === undefined ? 'Reserve for a customer' : `Change order ${order.id}`}
      closeLabel="Cancel"
      submitButton={
        <Button type="submit" tone="primary" isBusy={isBusy}>
          {order === undefined ? 'Reserve' : 'Save'}
        </Button>
      }
      onClose={onClose}
      onSubmit={(close) => void attempt(() => save(close))}
      hasUnsavedInput={fields.customer !== start.customer || fields.note !== start.note}
    >
      <div className="order-form">
        {[...amounts].map(([petId, text]) => (
          <TextField
            key={String(petId)}
            label={nameOf(petId)}
            isNumber
            value={text}
            onChange={(typed) => setAmount(petId, typed)}
          />
        ))}
        <PetFilter
          label="Add a pet"
          placeholder="Name or id"
          petId={undefined}
          onPick={(petId) => petId !== undefined && setAmount(petId, amounts.get(petId) ?? '1')}
        />
      </div>
      <TextField
        label="Customer"
        placeholder="Name and telephone number"
        value={fields.customer}
        maxLength={MAX_LENGTHS.OrderChange.customer}
        autoFocus={order === undefined}
        onChange={(text) => change({ customer: text })}
      />
      <TextField
        label="Note"
        value={fields.note}
        maxLength={MAX_LENGTHS.OrderChange.note}
        onChange={(text) => change({ note: text })}
      />
      <SelectField
        label="Keep it"
        options={order === undefined ? HOLDS : [AS_IT_IS, ...HOLDS]}
        value={fields.hold}
        onChange={(hold) => change({ hold })}
      />
      <p className="negative small" role="alert">
        {failure}
      </p>
    </Dialog>
  )
}
