import { type ReactNode, useId, useState } from 'preact/compat'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useScannerKeys } from '../ui/scanner.ts'
import { vault } from './device-people.ts'
import { setPin as encryptWithPin, openSession } from './signed-in.ts'
import { MAX_WRONG_PINS, type Person, PIN_FORM } from './vault.ts'

const NOT_A_PIN = 'A PIN has 4 to 8 digits.'
const PIN_FIELD = { type: 'password', isNumber: true } as const

interface CardFormProps {
  readonly title: string
  readonly onSubmit: () => void
  readonly children: ReactNode
}

export function CardForm({ title, onSubmit, children }: CardFormProps) {
  const id = useId()
  return (
    <form
      className="card sign-in__card"
      aria-labelledby={id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <h1 id={id}>{title}</h1>
      {children}
    </form>
  )
}

interface PinFormProps {
  readonly person: Person
  /** The person is no longer on this device. */
  readonly onRemoved: (why: string | undefined) => void
}

/** Asks a person of this device for the PIN. */
export function PinForm({ person, onRemoved }: PinFormProps) {
  const [pin, setPin] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  useScannerKeys(() => setProblem('This device is locked. Enter your PIN, then scan again.'))
  const unlock = async () => {
    if (isBusy) return
    if (!PIN_FORM.test(pin)) {
      setProblem(NOT_A_PIN)
      return
    }
    setBusy(true)
    const result = await vault.unlock(person.id, pin)
    setBusy(false)
    setPin('')
    if (result.type === 'unlocked') openSession(result.apiKey, person.id)
    else if (result.type === 'removed')
      onRemoved(
        `${MAX_WRONG_PINS} wrong PINs: ${person.name} was removed from this device. Ask for a new code.`,
      )
    else setProblem(`Wrong PIN. ${attemptWords(result.attemptsLeft)}`)
  }
  const remove = async () => {
    const isSure = await ask({
      title: `Remove ${person.name} from this device?`,
      text: [`To work here again, ${person.name} needs a new code from People.`],
      yes: 'Remove',
      no: 'Cancel',
    })
    if (!isSure) return
    await vault.remove(person.id)
    onRemoved(undefined)
  }
  return (
    <CardForm title={person.name} onSubmit={() => void unlock()}>
      <TextField {...PIN_FIELD} label="PIN" value={pin} onChange={setPin} problem={problem} autoFocus />
      <Button type="submit" tone="primary" isBusy={isBusy}>
        Unlock
      </Button>
      <Button tone="quiet" size="small" onClick={() => void remove()}>
        Forgot the PIN?
      </Button>
    </CardForm>
  )
}

/** Two fields for a new PIN and a button. The caller puts them into a form of its own. */
export function useNewPin(submitLabel: string, onPin: (pin: string) => Promise<void>) {
  const [pin, setPin] = useState('')
  const [repeated, setRepeated] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async () => {
    if (isBusy) return
    if (!PIN_FORM.test(pin)) setProblem(NOT_A_PIN)
    else if (pin !== repeated) setProblem('The two PINs differ.')
    else {
      setProblem(undefined)
      setBusy(true)
      await onPin(pin)
    }
  }
  const fields = (
    <>
      <TextField
        {...PIN_FIELD}
        label="New PIN"
        hint="4 to 8 digits."
        value={pin}
        onChange={setPin}
        problem={problem}
        autoFocus
      />
      <TextField {...PIN_FIELD} label="Repeat the PIN" value={repeated} onChange={setRepeated} />
      <p className="muted small">
        The PIN keeps colleagues apart on this device. It does not protect a stolen device: if the device is
        lost, revoke its people in People.
      </p>
    </>
  )
  const button = (
    <Button type="submit" tone="primary" isBusy={isBusy}>
      {submitLabel}
    </Button>
  )
  return { fields, button, submit }
}

/** Sets or changes the PIN of the person who is signed in. */
export function PinDialog({ onClose }: { readonly onClose: () => void }) {
  const { fields, button, submit } = useNewPin('Save the PIN', async (pin) => {
    await encryptWithPin(pin)
    onClose()
  })
  return (
    <Dialog title="PIN for this device" onClose={onClose} onSubmit={() => void submit()}>
      {(close) => (
        <>
          <p>With a PIN, several people can use this device, and you can lock it.</p>
          {fields}
          <div className="dialog__actions">
            <Button onClick={close}>Cancel</Button>
            {button}
          </div>
        </>
      )}
    </Dialog>
  )
}

function attemptWords(left: number): string {
  return left === 1
    ? 'One more wrong PIN removes you from this device.'
    : `${left} tries left, then you are removed from this device.`
}
