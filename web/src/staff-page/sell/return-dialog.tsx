import { isPetstoreError } from '@petstore/client'
import { useRef, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { showToast } from '../data/toasts.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useAttempt } from '../ui/use-attempt.ts'
import { piecesWords } from '../ui/words.ts'

/** What was sold with a receipt and has not come back yet. */
interface SoldPet {
  readonly petId: bigint
  readonly sold: number
  readonly returned: number
}

const PAGE_SIZE = 1_000

/** Takes back a receipt, whole or in part. */
export function ReturnDialog({ onClose }: { readonly onClose: () => void }) {
  const { saving, stock } = useSession()
  const [receipt, setReceipt] = useState('')
  const [pets, setPets] = useState<readonly SoldPet[]>()
  const [amounts, setAmounts] = useState<ReadonlyMap<bigint, string>>(new Map())
  const { failure, setFailure, isBusy, attempt } = useAttempt(returnFailure)
  /** The same key as long as the same units are returned, so that a lost response does not return them twice. */
  const sent = useRef({ text: '', idempotencyKey: '' })

  const find = async () => {
    const found = await findReceipt(saving, receipt.trim())
    setReceipt(found.receipt)
    setPets(found.pets)
    setAmounts(new Map())
    if (found.pets.length === 0) setFailure(`No sale has the receipt ${receipt.trim()}.`)
  }
  const changes = (pets ?? []).flatMap(({ petId, sold, returned }) => {
    const delta = readQuantity(amounts.get(petId) ?? '') ?? 0
    return delta > 0 && delta <= sold - returned ? [{ petId, delta }] : []
  })
  const pieces = changes.reduce((sum, { delta }) => sum + delta, 0)
  const takeBack = async (close: () => void) => {
    const text = changes.map(({ petId, delta }) => `${petId}:${delta}`).join()
    if (sent.current.text !== text) sent.current = { text, idempotencyKey: crypto.randomUUID() }
    const adjustment = { reason: 'returned', reference: receipt.trim(), changes } as const
    const { idempotencyKey } = sent.current
    await saving.client.inventory.adjust(adjustment, { idempotencyKey, signal: saving.signal })
    showToast({ name: 'sale', text: `Returned ${piecesWords(pieces)} of receipt ${receipt.trim()}.` })
    close()
  }
  const isFound = pets !== undefined && pieces > 0
  const submit = (close: () => void) => void attempt(isFound ? () => takeBack(close) : find)
  return (
    <Dialog
      title="Return"
      closeLabel="Cancel"
      submitButton={
        <Button type="submit" tone="primary" isBusy={isBusy} isDisabled={receipt.trim() === ''}>
          {isFound ? `Return ${piecesWords(pieces)}` : 'Find the receipt'}
        </Button>
      }
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label="Receipt"
        value={receipt}
        maxLength={200}
        autoFocus
        onChange={(text) => {
          setReceipt(text)
          setPets(undefined)
        }}
      />
      <p className="negative small" role="alert">
        {failure}
      </p>
      {pets?.map(({ petId, sold, returned }) => (
        <TextField
          key={String(petId)}
          label={stock.nameOf(petId)}
          hint={`${sold} sold${returned > 0 ? `, ${returned} returned before` : ''}`}
          problem={problemOf(amounts.get(petId), sold - returned)}
          isNumber
          value={amounts.get(petId) ?? ''}
          placeholder="0"
          onChange={(text) => setAmounts(new Map(amounts).set(petId, text))}
        />
      ))}
    </Dialog>
  )
}

function returnFailure(error: unknown): string {
  const isUnsure = isPetstoreError(error) && error.mayHaveBeenMade
  return isUnsure ? 'Not sure it was saved. Press again; it is never counted twice.' : failureWords(error)
}

function problemOf(text: string | undefined, left: number): string | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const amount = readQuantity(text)
  if (amount === undefined) return 'Enter a whole number.'
  return amount > left ? `At most ${left} can be returned.` : undefined
}

/** The service compares receipts exactly, but people type them in any case. */
async function findReceipt(
  saving: SaveContext,
  typed: string,
): Promise<{ receipt: string; pets: readonly SoldPet[] }> {
  for (const receipt of new Set([typed, typed.toUpperCase(), typed.toLowerCase()])) {
    const pets = await loadReceipt(saving, receipt)
    if (pets.length > 0) return { receipt, pets }
  }
  return { receipt: typed, pets: [] }
}

async function loadReceipt({ client, signal }: SaveContext, reference: string): Promise<readonly SoldPet[]> {
  const pets = new Map<bigint, { sold: number; returned: number }>()
  const receipt = client.inventory.changes({ reference, limit: PAGE_SIZE, signal })
  for await (const { petId, before, after, reason } of receipt) {
    const pet = pets.get(petId) ?? { sold: 0, returned: 0 }
    if (reason === 'sold') pet.sold += before - after
    if (reason === 'returned') pet.returned += after - before
    pets.set(petId, pet)
  }
  return Array.from(pets, ([petId, pet]) => ({ petId, ...pet })).filter(({ sold }) => sold > 0)
}
