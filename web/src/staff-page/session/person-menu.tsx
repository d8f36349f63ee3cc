import { lazy, Suspense, useCallback, useEffect, useId, useState } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { permissionWords } from '../data/permission-words.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { Field } from '../ui/field.tsx'
import { canUsePins } from './device-people.ts'
import { LOCK_MINUTES, lockMinutes, setLockMinutes, useIdleLock } from './idle-lock.ts'
import { useSession } from './session-context.ts'
import { lock, signedIn, signOut, switchPerson } from './signed-in.ts'

const PinDialog = lazy(async () => ({ default: (await import('./pin-forms.tsx')).PinDialog }))

const lockIdle = () => lock(`Locked, because nobody used this device for ${minuteWords(lockMinutes())}.`)

/** The name of the person who is signed in, with a menu, and a button that locks the page. */
export function PersonMenu() {
  const { personId } = useReadable(signedIn)
  const owner = useReadable(useSession().owner)
  const [isSettingPin, setSettingPin] = useState(false)
  const [minutes, setMinutes] = useState(lockMinutes)
  const id = useId()
  const hasPin = personId !== undefined
  useIdleLock(hasPin, lockIdle)
  useLockKey(hasPin)
  const closeDialog = useCallback(() => setSettingPin(false), [])
  const name = owner?.name ?? 'You'
  return (
    <>
      {hasPin && (
        <Button tone="quiet" icon="lock" aria-label="Lock" title="Lock (Alt+L)" onClick={() => lock()} />
      )}
      <button
        type="button"
        className="button button--quiet person-menu__button"
        popoverTarget={id}
        aria-label={`Signed in as ${name}`}
      >
        <Icon name="person" />
        <span className="person-menu__name">{name}</span>
      </button>
      <div id={id} className="person-menu popup" popover="auto">
        <p>
          <strong>{name}</strong>
          {owner !== undefined && <span className="muted"> · {permissionWords(owner.permissions)}</span>}
        </p>
        {hasPin && <Button onClick={() => lock()}>Lock</Button>}
        {hasPin && <Button onClick={switchPerson}>Switch person</Button>}
        {canUsePins && owner !== undefined && (
          <Button popoverTarget={id} popoverTargetAction="hide" onClick={() => setSettingPin(true)}>
            {hasPin ? 'Change the PIN' : 'Set a PIN'}
          </Button>
        )}
        {hasPin && (
          <Field label="Lock without use after">
            {(control) => (
              <select
                {...control}
                className="select"
                value={minutes}
                onChange={({ currentTarget }) => {
                  const chosen = LOCK_MINUTES.find((choice) => choice === Number(currentTarget.value))
                  if (chosen === undefined) return
                  setLockMinutes(chosen)
                  setMinutes(chosen)
                }}
              >
                {LOCK_MINUTES.map((choice) => (
                  <option key={choice} value={choice}>
                    {minuteWords(choice)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Button icon="signOut" onClick={() => void askAndSignOut(name, hasPin)}>
          Sign out
        </Button>
      </div>
      {isSettingPin && (
        <Suspense fallback={null}>
          <PinDialog onClose={closeDialog} />
        </Suspense>
      )}
    </>
  )
}

function minuteWords(minutes: number): string {
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

async function askAndSignOut(name: string, hasPin: boolean): Promise<void> {
  const isSure =
    !hasPin ||
    (await ask({
      title: `Sign out ${name} from this device?`,
      text: ['To work here again, you need a new code from People. To leave for a while, lock instead.'],
      yes: 'Sign out',
      no: 'Cancel',
    }))
  if (isSure) await signOut()
}

function useLockKey(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return
    const onKeyDown = (event: KeyboardEvent) => {
      // The code of the key, because Alt changes the letter on some keyboards.
      if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== 'KeyL') return
      event.preventDefault()
      lock()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [isOn])
}
