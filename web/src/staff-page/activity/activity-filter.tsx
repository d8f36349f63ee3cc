import { MAX_LENGTHS, type RecordedReason, VALUES } from '@petstore/client'
import { useReadable } from '../data/observable.ts'
import { REASON_WORDS } from '../data/reason-words.ts'
import { startOfDay } from '../data/time-words.ts'
import { PetFilter } from '../scanner/pet-filter.tsx'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { SelectField } from '../ui/select-field.tsx'

export interface ActivityFilter {
  readonly kind: 'stock' | 'pets'
  /** The id of a key. */
  readonly who: string
  /** Of changes of the stock, like `reference`. */
  readonly reason: RecordedReason | ''
  readonly reference: string
  /** Local days, such as 2026-11-16. The whole last day is included. */
  readonly from: string
  readonly to: string
  readonly petId: bigint | undefined
}

const NO_FILTER: ActivityFilter = {
  kind: 'stock',
  who: '',
  reason: '',
  reference: '',
  from: '',
  to: '',
  petId: undefined,
}

export function isFilteringActivity(filter: ActivityFilter): boolean {
  return toAddress({ ...filter, kind: 'stock' }) !== ''
}

export function queryOf({ who, reason, reference, from, to, petId }: ActivityFilter) {
  return {
    keyId: who || undefined,
    reason: reason || undefined,
    reference: reference.trim() || undefined,
    since: startOfDay(from),
    until: startOfDay(to, 1),
    petId,
  }
}

/** The filter in the address of the page, so that a reload and a link restore it. */
export function toAddress({ kind, who, reason, reference, from, to, petId }: ActivityFilter): string {
  const parts = {
    show: kind === 'pets' ? kind : '',
    who,
    reason,
    reference: reference.trim(),
    from,
    to,
    pet: petId === undefined ? '' : String(petId),
  }
  return new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== '')).toString()
}

export function fromAddress(query: string | undefined): ActivityFilter {
  const parts = new URLSearchParams(query ?? '')
  const day = (name: string) => {
    const text = parts.get(name) ?? ''
    return startOfDay(text) === undefined ? '' : text
  }
  const pet = parts.get('pet') ?? ''
  return {
    kind: parts.get('show') === 'pets' ? 'pets' : 'stock',
    who: parts.get('who') ?? '',
    reason: VALUES.RecordedReason.find((reason) => reason === parts.get('reason')) ?? '',
    reference: parts.get('reference') ?? '',
    from: day('from'),
    to: day('to'),
    petId: /^-?\d{1,18}$|^-?[1-8]\d{18}$/.test(pet) ? BigInt(pet) : undefined,
  }
}

const KIND_OPTIONS = [
  { value: 'stock', label: 'Stock' },
  { value: 'pets', label: 'Edits of pets' },
] as const
const REASON_OPTIONS = [
  { value: '' as const, label: 'Any' },
  ...VALUES.RecordedReason.map((value) => ({ value, label: REASON_WORDS[value] })),
]

interface Props {
  readonly filter: ActivityFilter
  readonly onChange: (filter: ActivityFilter) => void
}

export function ActivityFilters({ filter, onChange }: Props) {
  const change = (changes: Partial<ActivityFilter>) => onChange({ ...filter, ...changes })
  return (
    <search className="activity-filters">
      <SelectField
        label="Show"
        options={KIND_OPTIONS}
        value={filter.kind}
        onChange={(kind) => change({ kind, reason: '', reference: '' })}
      />
      <PetFilter petId={filter.petId} onPick={(petId) => change({ petId })} />
      <WhoFilter who={filter.who} onChange={(who) => change({ who })} />
      {filter.kind === 'stock' && (
        <>
          <SelectField
            label="Reason"
            options={REASON_OPTIONS}
            value={filter.reason}
            onChange={(reason) => change({ reason })}
          />
          <TextField
            label="Reference"
            value={filter.reference}
            maxLength={MAX_LENGTHS.InventoryAdjustment.reference}
            onChange={(reference) => change({ reference })}
          />
        </>
      )}
      <TextField
        label="From"
        type="date"
        isNumber
        value={filter.from}
        onChange={(from) => change({ from })}
      />
      <TextField label="To" type="date" isNumber value={filter.to} onChange={(to) => change({ to })} />
      {isFilteringActivity(filter) && (
        <Button onClick={() => onChange({ ...NO_FILTER, kind: filter.kind })}>Show all</Button>
      )}
    </search>
  )
}

interface WhoFilterProps {
  readonly who: string
  readonly onChange: (who: string) => void
}

function WhoFilter({ who, onChange }: WhoFilterProps) {
  const names = useReadable(useSession().keyNames)
  const known = names.has(who) || who === '' ? [...names] : [...names, [who, who] as const]
  const options = known
    .map(([value, label]) => ({ value, label }))
    .sort((one, other) => one.label.localeCompare(other.label))
  return (
    <SelectField
      label="Who"
      options={[{ value: '', label: 'Anybody' }, ...options]}
      value={who}
      onChange={onChange}
    />
  )
}
