import { isPetstoreError } from '@petstore/client'
import { useRef, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, TextField } from '../ui/field.tsx'
import { petsWords } from '../ui/words.ts'
import type { Till } from './till.ts'

/** How long the pets are kept for the customer, in seconds; 0 is without a time limit. */
const HOLDS = [
  { seconds: 3_600, label: 'for 1 hour' },
  { seconds: 86_400, label: 'for 1 day' },
  { seconds: 3 * 86_400, label: 'for 3 days' },
  { seconds: 7 * 86_400, label: 'for a week' },
  { seconds: 0, label: 'no time limit' },
] as const

interface Props {
  readonly till: Till
  readonly onClose: () => void
}

/** Reserves everything in the sale for a customer: one order for each pet, all of them or none. */
export function ReserveDialog({ till, onClose }: Props) {
  const { client, stock } = useSession()
  const { lines } = useReadable(till)
  const [customer, setCustomer] = useState('')
  const [phone, setPhone] = useState('')
  const [note, setNote] = useState('')
  const [hold, setHold] = useState<number>(HOLDS[1].seconds)
  const [problem, setProblem] = useState<string>()
  const [failure, setFailure] = useState<string>()
  const [isWorking, setWorking] = useState(false)
  /** The same key as long as the same orders are sent, so that a lost response does not reserve twice. */
  const sent = useRef({ text: '', idempotencyKey: '' })

  const reserve = async (close: () => void) => {
    if (customer.trim() === '') return setProblem('Enter the name of the customer.')
    const orders = lines.map(({ petId, quantity }) => ({
      petId,
      quantity,
      customer: [customer.trim(), phone.trim()].filter((part) => part !== '').join(' · '),
      ...(note.trim() === '' ? {} : { note: note.trim() }),
      ...(hold === 0 ? {} : { holdSeconds: hold }),
    }))
    const text = JSON.stringify(orders.map((order) => ({ ...order, petId: String(order.petId) })))
    if (sent.current.text !== text) sent.current = { text, idempotencyKey: crypto.randomUUID() }
    setWorking(true)
    setFailure(undefined)
    try {
      await client.orders.createMany({ orders }, { idempotencyKey: sent.current.idempotencyKey })
      till.next()
      showToast({ name: 'sale', text: `Reserved ${petsWords(lines.length)} for ${customer.trim()}.` })
      close()
    } catch (error) {
      const details = isPetstoreError(error) ? error.details : []
      const named = details.flatMap(({ petId, available }) =>
        petId === undefined || available === undefined
          ? []
          : [`${stock.nameOf(BigInt(petId))}: only ${Math.max(0, available)} free.`],
      )
      setFailure(named.length === 0 ? failureWords(error) : `Nothing was reserved. ${named.join(' ')}`)
      setWorking(false)
      if (isPetstoreError(error) && !error.mayHaveBeenMade) sent.current = { text: '', idempotencyKey: '' }
    }
  }
  const closeRef = useRef(() => {})
  return (
    <Dialog
      title={`Reserve ${petsWords(lines.length)} for a customer`}
      onClose={onClose}
      onSubmit={() => {
        if (!isWorking) void reserve(closeRef.current)
      }}
      hasUnsavedInput={customer !== '' || phone !== '' || note !== ''}
    >
      {(close) => {
        closeRef.current = close
        return (
          <>
            <TextField
              label="Customer"
              value={customer}
              maxLength={120}
              problem={problem}
              onChange={(text) => {
                setCustomer(text)
                setProblem(undefined)
              }}
            />
            <TextField label="Phone" type="tel" value={phone} maxLength={60} onChange={setPhone} />
            <TextField label="Note" value={note} maxLength={500} onChange={setNote} />
            <Field label="Keep it">
              {(control) => (
                <select
                  {...control}
                  className="select"
                  value={hold}
                  onChange={({ currentTarget }) => setHold(Number(currentTarget.value))}
                >
                  {HOLDS.map(({ seconds, label }) => (
                    <option key={seconds} value={seconds}>
                      {label}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <p className="negative small" role="alert">
              {failure}
            </p>
            <div className="dialog__actions">
              <Button onClick={close}>Cancel</Button>
              <Button type="submit" tone="primary" isBusy={isWorking}>
                Reserve
              </Button>
            </div>
          </>
        )
      }}
    </Dialog>
  )
}
