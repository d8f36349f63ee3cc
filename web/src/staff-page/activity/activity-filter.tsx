import type { ChangeFilter, RecentChange, RecordedReason } from '@petstore/client'
import { useState } from 'preact/compat'
import { REASON_WORDS } from '../data/reason-words.ts'
import { fold } from '../data/stock/search-text.ts'
import { usePetsLike } from '../scanner/find-pets.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Combobox } from '../ui/combobox.tsx'
import { TextField } from '../ui/field.tsx'
import { SelectField } from '../ui/select-field.tsx'

export interface ActivityFilter {
  /** A part of the name of a key. */
  readonly who: string
  readonly reason: RecordedReason | ''
  /** Local days, such as 2026-11-16. The whole last day is included. */
  readonly from: string
  readonly to: string
  readonly petId: bigint | undefined
}

const NO_FILTER: ActivityFilter = { who: '', reason: '', from: '', to: '', petId: undefined }

// The cast is safe: `REASON_WORDS` has every reason and nothing else.
const REASONS = Object.keys(REASON_WORDS) as readonly RecordedReason[]

export function isFilteringActivity(filter: ActivityFilter): boolean {
  return toAddress(filter) !== ''
}

export function queryOf({ reason, from, to, petId }: ActivityFilter): ChangeFilter {
  return { reason: reason || undefined, since: startOf(from, 0), until: startOf(to, 1), petId }
}

type Event = Pick<RecentChange, 'petId' | 'at' | 'reason'>

export function fitsQuery({ petId, reason, at }: Event, query: ChangeFilter): boolean {
  const time = Date.parse(at)
  return (
    (query.petId === undefined || query.petId === petId) &&
    (query.reason === undefined || query.reason === reason) &&
    (query.since === undefined || time >= Date.parse(query.since)) &&
    (query.until === undefined || time < Date.parse(query.until))
  )
}

/** The filter in the address of the page, so that a reload and a link restore it. */
export function toAddress({ who, reason, from, to, petId }: ActivityFilter): string {
  const parts = { who: who.trim(), reason, from, to, pet: petId === undefined ? '' : String(petId) }
  return new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== '')).toString()
}

export function fromAddress(query: string | undefined): ActivityFilter {
  const parts = new URLSearchParams(query ?? '')
  const day = (name: string) => {
    const text = parts.get(name) ?? ''
    return startOf(text, 0) === undefined ? '' : text
  }
  const pet = parts.get('pet') ?? ''
  return {
    who: parts.get('who') ?? '',
    reason: REASONS.find((reason) => reason === parts.get('reason')) ?? '',
    from: day('from'),
    to: day('to'),
    petId: /^-?\d{1,18}$|^-?[1-8]\d{18}$/.test(pet) ? BigInt(pet) : undefined,
  }
}

/** When a local day begins, or the day `daysAfter` it; `undefined` if the text is not a day. */
function startOf(day: string, daysAfter: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysAfter)
  return year === undefined || Number.isNaN(start.getTime()) ? undefined : start.toISOString()
}

const MAX_OPTIONS = 8
const REASON_OPTIONS = [
  { value: '' as const, label: 'Any' },
  ...REASONS.map((value) => ({ value, label: REASON_WORDS[value] })),
]

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
      <SelectField
        label="Reason"
        options={REASON_OPTIONS}
        value={filter.reason}
        onChange={(reason) => change({ reason })}
      />
      <TextField
        label="From"
        type="date"
        isNumber
        value={filter.from}
        onChange={(from) => change({ from })}
      />
      <TextField label="To" type="date" isNumber value={filter.to} onChange={(to) => change({ to })} />
      {isFilteringActivity(filter) && <Button onClick={() => onChange(NO_FILTER)}>Show all</Button>}
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
