import { useEffect, useId, useState } from 'react'
import { REASON_WORDS } from '../data/reason-words.ts'
import { useSession } from '../session/session-context.ts'
import { type ActivityFilter, isFilteringActivity, REASONS } from './activity-filter.ts'
import { PetPicker } from './pet-picker.tsx'

interface Props {
  readonly filter: ActivityFilter
  /** Whose changes were seen. */
  readonly people: readonly string[]
  readonly onChange: (changes: Partial<ActivityFilter>) => void
  readonly onClear: () => void
}

export function ActivityFilters({ filter, people, onChange, onClear }: Props) {
  const { stock } = useSession()
  const id = useId()
  return (
    <search className="activity-filters">
      <PetPicker label="Pet" petId={filter.petId} stock={stock} onPick={(petId) => onChange({ petId })} />
      <WhoField who={filter.who} people={people} onChoose={(who) => onChange({ who })} />
      <div className="field">
        <label className="field__label" htmlFor={`${id}-reason`}>
          Reason
        </label>
        <select
          id={`${id}-reason`}
          className="select"
          value={filter.reason}
          onChange={({ currentTarget: { value } }) =>
            onChange({ reason: REASONS.find((reason) => reason === value) ?? '' })
          }
        >
          <option value="">Any</option>
          {REASONS.map((reason) => (
            <option key={reason} value={reason}>
              {REASON_WORDS[reason]}
            </option>
          ))}
        </select>
      </div>
      <Day label="From" value={filter.from} onChange={(from) => onChange({ from })} />
      <Day label="To" value={filter.to} onChange={(to) => onChange({ to })} />
      {isFilteringActivity(filter) && (
        <button type="button" className="button activity-filters__clear" onClick={onClear}>
          Show all
        </button>
      )}
    </search>
  )
}

interface DayProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function Day({ label, value, onChange }: DayProps) {
  const id = useId()
  return (
    <div className="field">
      <label className="field__label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className="input number"
        type="date"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </div>
  )
}

interface WhoProps {
  readonly who: string
  readonly people: readonly string[]
  readonly onChoose: (who: string) => void
}

/** A name is looked for once it is whole: each look may go a long way back. */
function WhoField({ who, people, onChoose }: WhoProps) {
  const id = useId()
  const [typed, setTyped] = useState(who)
  useEffect(() => setTyped(who), [who])
  const type = (text: string) => {
    setTyped(text)
    if (text === '' || people.includes(text)) onChoose(text)
  }
  const choose = () => {
    if (typed.trim() !== who) onChoose(typed.trim())
  }
  return (
    <div className="field">
      <label className="field__label" htmlFor={id}>
        Who
      </label>
      <input
        id={id}
        className="input"
        list={`${id}-people`}
        placeholder="Anybody"
        autoComplete="off"
        maxLength={200}
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
        onBlur={choose}
        onKeyDown={({ key }) => {
          if (key === 'Enter') choose()
        }}
      />
      <datalist id={`${id}-people`}>
        {people.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  )
}
