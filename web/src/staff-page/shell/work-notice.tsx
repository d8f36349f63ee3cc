import { useReadable } from '../data/observable.ts'
import { linesWords } from '../data/orders/order-words.ts'
import type { Outbox } from '../data/work/outbox.ts'
import { countWords, isSent, type SentDocument, titleOf } from '../data/work/work-document.ts'
import { workPlaceOf } from '../session/device-work.ts'
import type { KeyOwner } from '../session/session.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { askToDiscard } from '../ui/confirm.tsx'

/** On every view: the work of this device that waits for the service, and what a person has to decide on. */
export function WorkNotice() {
  const owner = useReadable(useSession().owner)
  const mayChange = useMayChange('stock')
  return owner === undefined || !mayChange ? null : <OpenWork owner={owner} />
}

function OpenWork({ owner }: { readonly owner: KeyOwner }) {
  const { outbox } = workPlaceOf(useSession(), owner)
  const sent = [...useReadable(outbox).values()].filter(isSent).filter(({ id }) => !outbox.isSending(id))
  const waiting = sent.filter(({ refusal }) => refusal === undefined)
  const others = new Set(
    waiting.filter(({ sent: { by } }) => by.id !== owner.id).map(({ sent: { by } }) => by.name),
  )
  const own = waiting.filter(({ sent: { by } }) => by.id === owner.id)
  return (
    <>
      {own.length > 0 && (
        <div className="notice notice--caution">
          Waiting to be booked: {countWords(own)}. Keep this page open until the service can be reached.
        </div>
      )}
      {others.size > 0 && (
        <div className="notice notice--caution">
          Work of {[...others].join(', ')} waits on this device, and is booked after the next sign-in.
        </div>
      )}
      {sent
        .filter(({ refusal }) => refusal !== undefined)
        .map((document) => (
          <RefusedWork key={document.id} outbox={outbox} document={document} />
        ))}
    </>
  )
}

function RefusedWork({ outbox, document }: { readonly outbox: Outbox; readonly document: SentDocument }) {
  const { stock } = useSession()
  const { sent, refusal } = document
  const nameOf = (petId: bigint) => stock.nameOf(petId)
  const title = titleOf(document)
  const lines = sent.batch.changes.map((change) => ({
    petId: change.petId,
    quantity: 'delta' in change ? Math.abs(change.delta) : change.quantity,
  }))
  const discard = async () => {
    const isSure = await askToDiscard(
      `Discard ${title}?`,
      `It will not be booked: ${linesWords(lines, nameOf)}.`,
      'If the pets have left the shop, or are in it, correct the stock by a count.',
    )
    if (isSure) await outbox.discard(document)
  }
  return (
    <div className="notice notice--negative" role="alert">
      <span className="grow">
        <strong>{title} was not booked.</strong> {refusal?.message}{' '}
        {refusal?.pets.map(({ petId, why }) => `${nameOf(petId)}: ${why}`).join(' ')}
      </span>
      <Button size="small" onClick={() => void outbox.retry(document)}>
        Try again
      </Button>
      <Button size="small" onClick={() => void discard()}>
        Discard
      </Button>
    </div>
  )
}
