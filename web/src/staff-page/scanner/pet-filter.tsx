import { useState } from 'preact/compat'
import { useSession } from '../session/session-context.ts'
import { Combobox } from '../ui/combobox.tsx'
import { usePetsLike } from './find-pets.ts'

const MAX_OPTIONS = 8

interface Props {
  readonly label?: string
  readonly placeholder?: string
  readonly petId: bigint | undefined
  readonly onPick: (petId: bigint | undefined) => void
}

/** Chooses one pet of a list, or all. */
export function PetFilter({ label = 'Pet', placeholder = 'Any pet', petId, onPick }: Props) {
  const { stock } = useSession()
  const [typed, setTyped] = useState<string>()
  const pick = (picked: bigint | undefined) => {
    onPick(picked)
    setTyped(undefined)
  }
  const options = usePetsLike(typed ?? '', MAX_OPTIONS)
  return (
    <Combobox
      label={label}
      noun="pets"
      placeholder={placeholder}
      text={typed ?? (petId === undefined ? '' : stock.nameOf(petId))}
      onType={(text) => (text.trim() === '' ? pick(undefined) : setTyped(text))}
      onBlur={() => setTyped(undefined)}
      options={options.map((row) => ({
        key: String(row.petId),
        petId: row.petId,
        content: (
          <>
            {row.name ?? `Pet ${row.petId}`} <span className="muted number">{String(row.petId)}</span>
          </>
        ),
      }))}
      onPick={(option) => pick(option.petId)}
    />
  )
}
