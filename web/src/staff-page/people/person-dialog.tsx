import { type Key, MAX_LENGTHS, type Permission, VALUES } from '@petstore/client'
import { useState } from 'preact/compat'
import { type PeopleList, peopleFailure } from '../data/people.ts'
import { PERMISSION_WORDS } from '../data/permission-words.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { SelectField } from '../ui/select-field.tsx'
import { useAttempt } from '../ui/use-attempt.ts'

/** The plans with fixed limits, from the smallest. */
const PLANS = ['free', 'pro', 'business'] as const
const FIRST_PERMISSIONS: readonly Permission[] = ['stock', 'orders']

const HINTS: Readonly<Record<Permission, string>> = {
  stock: 'sell, receive, count, correct',
  orders: 'reserve, complete, cancel',
  pets: 'add, edit, remove, import',
  webhooks: 'connections to other systems',
  keys: 'add and revoke people',
}

interface Props {
  readonly list: PeopleList
  /** The key of the user, who gives no more than this key has. */
  readonly own: Key | undefined
  /** The person to edit; `undefined` to add one. */
  readonly person: Key | undefined
  readonly onClose: () => void
  readonly onAdded: (person: Key) => void
}

export function PersonDialog({ list, own, person, onClose, onAdded }: Props) {
  const hasAllPlans = own === undefined || own.plan === 'enterprise'
  const plans = hasAllPlans ? PLANS : PLANS.slice(0, PLANS.indexOf(own.plan) + 1)
  const [name, setName] = useState(person?.name ?? '')
  const [plan, setPlan] = useState<(typeof PLANS)[number]>(plans.includes('pro') ? 'pro' : 'free')
  const [permissions, setPermissions] = useState<readonly Permission[]>(
    person?.permissions ?? FIRST_PERMISSIONS.filter((one) => own?.permissions.includes(one)),
  )
  const [problem, setProblem] = useState<string>()
  const { failure, isBusy, attempt } = useAttempt(peopleFailure)
  const save = async (close: () => void) => {
    const fields = { name: name.trim(), permissions: [...permissions] }
    if (person !== undefined) {
      await list.change(person.id, fields)
      return close()
    }
    // A key must not outlive the key that creates it.
    const expiry = own?.expiresAt === undefined ? {} : { expiresAt: own.expiresAt }
    onAdded(await list.add({ ...fields, plan, ...expiry }))
  }
  const toggle = (permission: Permission) =>
    setPermissions(VALUES.Permission.filter((one) => permissions.includes(one) !== (one === permission)))
  return (
    <Dialog
      title={person === undefined ? 'Add a person' : `Edit ${person.name}`}
      closeLabel="Cancel"
      submitButton={
        <Button type="submit" tone="primary" isBusy={isBusy}>
          {person === undefined ? 'Add and show the code' : 'Save'}
        </Button>
      }
      onClose={onClose}
      hasUnsavedInput={name !== (person?.name ?? '')}
      onSubmit={(close) => {
        if (name.trim() === '') setProblem('Enter a name.')
        else void attempt(() => save(close))
      }}
    >
      <TextField
        label="Name"
        hint="Of the person or the device. Activity shows it."
        autoFocus
        maxLength={MAX_LENGTHS.NewKey.name}
        value={name}
        onChange={setName}
        problem={problem}
      />
      <fieldset className="stack">
        <legend className="field__label">May change</legend>
        {VALUES.Permission.map((permission) => (
          <label key={permission} className="choice">
            <input
              className="checkbox"
              type="checkbox"
              checked={permissions.includes(permission)}
              disabled={own?.permissions.includes(permission) === false}
              onChange={() => toggle(permission)}
            />
            <span>
              {PERMISSION_WORDS[permission]} <span className="muted">({HINTS[permission]})</span>
            </span>
          </label>
        ))}
      </fieldset>
      {person === undefined && (
        <SelectField
          label="Plan"
          hint="How many requests the person may send. Pro is enough for one till."
          options={plans.map((value) => ({ value, label: value }))}
          value={plan}
          onChange={setPlan}
        />
      )}
      {failure !== undefined && (
        <p className="notice notice--negative" role="alert">
          {failure}
        </p>
      )}
    </Dialog>
  )
}
