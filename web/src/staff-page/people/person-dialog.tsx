import type { Key, NewKey, Permission } from '@petstore/client'
import { useState } from 'preact/compat'
import { type PeopleList, peopleFailure } from '../data/people.ts'
import { ALL_PERMISSIONS, PERMISSION_WORDS } from '../data/permission-words.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, TextField } from '../ui/field.tsx'

const PLANS: readonly Key['plan'][] = ['free', 'pro', 'business', 'enterprise']
/** Plans with fixed limits. */
const FIXED_PLANS = ['free', 'pro', 'business'] as const
type FixedPlan = (typeof FIXED_PLANS)[number]
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
  /** Absent to add a person. */
  readonly person: Key | undefined
  readonly onClose: () => void
  readonly onAdded: (person: Key) => void
}

/** Adds a person, or changes the name and the permissions. */
export function PersonDialog({ list, own, person, onClose, onAdded }: Props) {
  const plans = FIXED_PLANS.filter(
    (one) => own === undefined || PLANS.indexOf(one) <= PLANS.indexOf(own.plan),
  )
  const [name, setName] = useState(person?.name ?? '')
  const [plan, setPlan] = useState<FixedPlan>(plans.includes('pro') ? 'pro' : 'free')
  const [permissions, setPermissions] = useState<readonly Permission[]>(
    person?.permissions ?? FIRST_PERMISSIONS.filter((one) => own?.permissions.includes(one)),
  )
  const [problem, setProblem] = useState<string>()
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const save = async (close: () => void) => {
    if (isBusy) return
    if (name.trim() === '') {
      setProblem('Enter a name.')
      return
    }
    setBusy(true)
    try {
      if (person === undefined) onAdded(await list.add(draftOf(name, plan, permissions, own)))
      else {
        await list.change(person.id, { name: name.trim(), permissions: [...permissions] })
        close()
      }
    } catch (error) {
      setFailure(peopleFailure(error))
      setBusy(false)
    }
  }
  const toggle = (permission: Permission) =>
    setPermissions(ALL_PERMISSIONS.filter((one) => permissions.includes(one) !== (one === permission)))
  return (
    <Dialog
      title={person === undefined ? 'Add a person' : `Edit ${person.name}`}
      onClose={onClose}
      hasUnsavedInput={name !== (person?.name ?? '')}
    >
      {(close) => (
        <form
          className="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void save(close)
          }}
        >
          <TextField
            label="Name"
            hint="Of the person or the device. Activity shows it."
            autoFocus
            maxLength={100}
            value={name}
            onChange={setName}
            problem={problem}
          />
          <fieldset className="stack">
            <legend className="field__label">May change</legend>
            {ALL_PERMISSIONS.map((permission) => (
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
            <Field label="Plan" hint="How many requests the person may send. Pro is enough for one till.">
              {(control) => (
                <select
                  {...control}
                  className="select"
                  value={plan}
                  onChange={({ currentTarget }) =>
                    setPlan(plans.find((one) => one === currentTarget.value) ?? 'free')
                  }
                >
                  {plans.map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </select>
              )}
            </Field>
          )}
          {failure !== undefined && (
            <p className="notice notice--negative" role="alert">
              {failure}
            </p>
          )}
          <div className="dialog__actions">
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" tone="primary" isBusy={isBusy}>
              {person === undefined ? 'Add and show the code' : 'Save'}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function draftOf(
  name: string,
  plan: FixedPlan,
  permissions: readonly Permission[],
  own: Key | undefined,
): NewKey {
  return {
    name: name.trim(),
    plan,
    permissions: [...permissions],
    // A key must not outlive the key that creates it.
    ...(own?.expiresAt === undefined ? {} : { expiresAt: own.expiresAt }),
  }
}
