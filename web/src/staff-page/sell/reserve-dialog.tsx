import { isPetstoreError } from '@petstore/client'
import { useRef, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { SelectField } from '../ui/select-field.tsx'
import { petsWords } from '../ui/words.ts'
import type { Till } from './till.ts'

/** How long the pets are kept for the customer, in seconds; 0 is without a time limit. */
const HOLDS = [
  { value: 3_600, label: 'for 1 hour' },
  { value: 86_400, label: 'for 1 day' },
  { value: 3 * 86_400, label: 'for 3 days' },
  { value: 7 * 86_400, label: 'for a week' },
  { value: 0, label: 'no time limit' },
] as const

/** Reserves everything in the sale for a customer: one order for each pet, all of them or none. */
export function ReserveDialog({ till, onClose }: { readonly till: Till; readonly onClose: () => void }) {
  const { client, stock } = useSession()
  const { lines } = useReadable(till)
  const [customer, setCustomer] = useState('')
  const [phone, setPhone] = useState('')
  const [note, setNote] = useState('')
  const [hold, setHold] = useState<number>(HOLDS[1].value)
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
      note: note.trim() || undefined,
      holdSeconds: hold || undefined,
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
  return (
    <Dialog
      title={`Reserve ${petsWords(lines.length)} for a customer`}
      closeLabel="Cancel"
      submitButton={
        <Button type="submit" tone="primary" isBusy={isWorking}>
          Reserve
        </Button>
      }
      onClose={onClose}
      onSubmit={(close) => {
        if (!isWorking) void reserve(close)
      }}
      hasUnsavedInput={customer !== '' || phone !== '' || note !== ''}
    >
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
      <SelectField label="Keep it" options={HOLDS} value={hold} onChange={setHold} />
      <p className="negative small" role="alert">
        {failure}
      </p>
    </Dialog>
  )
}
