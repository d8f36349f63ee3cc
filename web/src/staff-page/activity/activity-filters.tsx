import { useState } from 'preact/compat'
import { REASON_WORDS } from '../data/reason-words.ts'
import { fold } from '../data/stock/search-text.ts'
import { usePetsLike } from '../scanner/find-pets.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Combobox } from '../ui/combobox.tsx'
import { Field, TextField } from '../ui/field.tsx'
import { type ActivityFilter, isFilteringActivity, NO_ACTIVITY_FILTER, REASONS } from './activity-filter.ts'

const MAX_OPTIONS = 8

interface Props {
  readonly filter: ActivityFilter
  /** The names of the keys that occur in the loaded changes. */
  readonly people: readonly string[]
  readonly onChange: (filter: ActivityFilter) => void
}

export function ActivityFilters({ filter, people, onChange }: Props) {
  const change = (changes: Partial<ActivityFilter>) => onChange({ ...filter, ...changes })
  return (
    <search className="activity-filters">
      <PetFilter petId={filter.petId} onPick={(petId) => change({ petId })} />
      <WhoFilter who={filter.who} people={people} onChange={(who) => change({ who })} />
      <Field label="Reason">
        {(control) => (
          <select
            {...control}
            className="select"
            value={filter.reason}
            onChange={({ currentTarget: { value } }) =>
              change({ reason: REASONS.find((reason) => reason === value) ?? '' })
            }
          >
            <option value="">Any</option>
            {REASONS.map((reason) => (
              <option key={reason} value={reason}>
                {REASON_WORDS[reason]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label="From"
        type="date"
        isNumber
        value={filter.from}
        onChange={(from) => change({ from })}
      />
      <TextField label="To" type="date" isNumber value={filter.to} onChange={(to) => change({ to })} />
      {isFilteringActivity(filter) && <Button onClick={() => onChange(NO_ACTIVITY_FILTER)}>Show all</Button>}
    </search>
  )
}

interface PetFilterProps {
  readonly petId: bigint | undefined
  readonly onPick: (petId: bigint | undefined) => void
}

function PetFilter({ petId, onPick }: PetFilterProps) {
  const { stock } = useSession()
  const [typed, setTyped] = useState<string>()
  const pick = (picked: bigint | undefined) => {
    onPick(picked)
    setTyped(undefined)
  }
  const options = usePetsLike(typed ?? '', MAX_OPTIONS)
  return (
    <Combobox
      label="Pet"
      noun="pets"
      placeholder="Any"
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

interface WhoFilterProps {
  readonly who: string
  readonly people: readonly string[]
  readonly onChange: (who: string) => void
}

/** Filters while the user types, by a part of the name. */
function WhoFilter({ who, people, onChange }: WhoFilterProps) {
  const [isOpen, setOpen] = useState(false)
  const part = fold(who.trim())
  const matching = part === '' ? [] : people.filter((name) => fold(name).includes(part))
  return (
    <Combobox
      label="Who"
      noun="people"
      placeholder="Anybody"
      text={who}
      onType={(text) => {
        setOpen(true)
        onChange(text)
      }}
      onBlur={() => setOpen(false)}
      onEnter={() => setOpen(false)}
      options={(isOpen ? matching.slice(0, MAX_OPTIONS) : []).map((name) => ({ key: name, content: name }))}
      onPick={({ key }) => {
        setOpen(false)
        onChange(key)
      }}
    />
  )
}
