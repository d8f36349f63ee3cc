import type { SearchRow } from '@petstore/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { catalogFailure } from '../data/catalog/catalog-failure.ts'
import { showToast } from '../data/toasts.ts'
import { useScan } from '../scanner/scanner.ts'
import { useSession } from '../session/session-context.ts'
import { href } from '../ui/navigation.ts'
import {
  draftOf,
  FIELD_WORDS,
  followed,
  newDraft,
  newPetOf,
  type PetDraft,
  type PetField,
  type PetProblems,
  problemsOf,
  updateOf,
} from './pet-draft.ts'
import { PetFields } from './pet-fields.tsx'
import { RemovePet } from './remove-pet.tsx'
import './pets.css'

interface Props {
  /** The pet to edit, as it is now; a new one without it. */
  readonly pet?: SearchRow | undefined
  /** It is gone, or was never there. */
  readonly isGone?: boolean
  /** What a new one begins with. */
  readonly categoryId?: bigint | undefined
  readonly barcode?: string
  readonly onClose: () => void
  readonly onSaved?: (petId: bigint) => void
}

/** Adds a pet, or edits one while others may do the same: what they change shows, and only what the user changed is sent. */
export function PetDialog({ pet, isGone = false, categoryId, barcode, onClose, onSaved }: Props) {
  const { client } = useSession()
  const dialog = useRef<HTMLDialogElement>(null)
  const [base, setBase] = useState(() => (pet === undefined ? newDraft(categoryId, barcode) : draftOf(pet)))
  const [draft, setDraft] = useState(base)
  const [overtaken, setOvertaken] = useState<readonly PetField[]>([])
  const [problems, setProblems] = useState<PetProblems>({})
  const [failure, setFailure] = useState<string>()
  const [isWorking, setWorking] = useState(false)
  const [isRemoving, setRemoving] = useState(false)

  useEffect(() => {
    dialog.current?.showModal()
  }, [])

  // Not by taking it away: the browser gives the focus back to what had it.
  const close = () => dialog.current?.close()
  const now = pet === undefined ? base : draftOf(pet)
  if (!isWorking && !isSame(now, base)) {
    const next = followed(draft, base, now)
    setBase(now)
    setDraft(next.draft)
    setOvertaken([...new Set([...overtaken, ...next.overtaken])])
  }

  const change = (changes: Partial<PetDraft>) => {
    setDraft({ ...draft, ...changes })
    setProblems(
      Object.fromEntries(Object.entries(problems).filter(([field]) => !(field in changes))) as PetProblems,
    )
  }
  useScan((scanned) => change({ barcode: scanned }), 'dialog')
  const save = async () => {
    const found = problemsOf(draft, pet === undefined)
    setFailure(undefined)
    flushSync(() => setProblems(found))
    if (Object.keys(found).length > 0)
      return dialog.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    const update = updateOf(base, draft)
    if (pet !== undefined && Object.keys(update).length === 0) return close()
    setWorking(true)
    try {
      if (pet === undefined) {
        const { id, name } = await client.pets.create(newPetOf(draft))
        showToast({ name: 'pet', text: `${name} is added, with the id ${id}.` })
        onSaved?.(id)
      } else {
        await client.pets.update(pet.petId, update)
        showToast({ name: 'pet', text: `${draft.name.trim()} is saved.` })
        onSaved?.(pet.petId)
      }
      close()
    } catch (error) {
      setFailure(catalogFailure(error, 'pet'))
      setWorking(false)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isWorking) void save()
  }
  const title = pet === undefined ? 'Add a pet' : `Edit ${pet.name}`
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="pet-dialog-title" onClose={onClose}>
      <form className="dialog__body" onSubmit={onSubmit} noValidate>
        <h2 id="pet-dialog-title">{title}</h2>
        {isGone && (
          <p className="notice notice--caution" role="alert">
            Somebody removed it in the meantime.
          </p>
        )}
        <Overtaken fields={overtaken} now={base} />
        <PetFields draft={draft} problems={problems} isNew={pet === undefined} onChange={change} />
        <p className="field__error" role="alert">
          {failure}
        </p>
        {isRemoving && pet !== undefined ? (
          <RemovePet pet={pet} onKeep={() => setRemoving(false)} onRemoved={close} />
        ) : (
          <div className="dialog__actions">
            {pet !== undefined && !isGone && (
              <button
                type="button"
                className="button button--danger pet-dialog__remove"
                onClick={() => setRemoving(true)}
              >
                Remove…
              </button>
            )}
            <button type="button" className="button" onClick={close}>
              Cancel
            </button>
            <button type="submit" className="button button--primary" aria-disabled={isWorking || isGone}>
              {isWorking && <span className="spinner" aria-hidden="true" />}
              {pet === undefined ? 'Add' : 'Save'}
            </button>
          </div>
        )}
        {pet !== undefined && (
          <p className="field__hint">
            How many there are is changed in the stock, or on{' '}
            <a href={href({ view: 'pet', petId: pet.petId })} onClick={close}>
              its page
            </a>
            .
          </p>
        )}
      </form>
    </dialog>
  )
}

interface OvertakenProps {
  readonly fields: readonly PetField[]
  readonly now: PetDraft
}

/** What somebody else has changed as well while the user was typing. */
function Overtaken({ fields, now }: OvertakenProps) {
  if (fields.length === 0) return null
  const told = fields.map((field) => {
    const value = field === 'categoryId' ? 'another one' : now[field] === '' ? 'nothing' : `“${now[field]}”`
    return `${FIELD_WORDS[field].toLowerCase()} to ${value}`
  })
  return (
    <p className="notice notice--caution" role="status">
      Somebody else just set the {told.join(', the ')}. Yours takes its place when you save.
    </p>
  )
}

function isSame(one: PetDraft, other: PetDraft): boolean {
  return (Object.keys(one) as PetField[]).every((field) => one[field] === other[field])
}
