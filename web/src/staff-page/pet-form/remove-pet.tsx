import { isPetstoreError, type SearchRow } from '@petstore/client'
import { useEffect, useRef, useState } from 'react'
import { catalogFailure } from '../data/catalog/catalog-failure.ts'
import { showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { href } from '../ui/navigation.ts'

interface Props {
  readonly pet: SearchRow
  readonly onKeep: () => void
  readonly onRemoved: () => void
}

/** Asks before a pet is removed: that cannot be taken back. */
export function RemovePet({ pet: { petId, name, quantity }, onKeep, onRemoved }: Props) {
  const { client } = useSession()
  const [failure, setFailure] = useState<unknown>()
  const [isWorking, setWorking] = useState(false)
  const keep = useRef<HTMLButtonElement>(null)
  useEffect(() => keep.current?.focus(), [])
  const remove = async () => {
    setWorking(true)
    try {
      await client.pets.remove(petId)
      showToast({ name: 'pet', text: `${name} is removed.` })
      onRemoved()
    } catch (error) {
      // Somebody else was quicker: it is gone, as it was to be.
      if (isPetstoreError(error, 'not_found')) return onRemoved()
      setFailure(error)
      setWorking(false)
    }
  }
  return (
    <div className="notice notice--negative" role="alert">
      <p>
        Remove {name} from the store? {stockWords(quantity)}
        This cannot be taken back; what happened to it stays in the history.
      </p>
      {failure !== undefined && (
        <p>
          <strong>{catalogFailure(failure, 'pet')}</strong>{' '}
          {isPetstoreError(failure, 'in_use') && (
            <a href={href({ view: 'pet', petId })} onClick={onRemoved}>
              Show its orders
            </a>
          )}
        </p>
      )}
      <span className="dialog__actions">
        <button
          type="button"
          className="button button--danger"
          disabled={isWorking}
          onClick={() => void remove()}
        >
          Yes, remove it
        </button>
        <button ref={keep} type="button" className="button" onClick={onKeep}>
          Keep it
        </button>
      </span>
    </div>
  )
}

function stockWords(quantity: number): string {
  if (quantity === 0) return ''
  return quantity === 1
    ? 'The one in stock goes with it. '
    : `The ${quantity.toLocaleString('en')} in stock go with it. `
}
