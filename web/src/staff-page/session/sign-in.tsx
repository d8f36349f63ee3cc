import type { KeyWithSecret } from '@petstore/client'
import { useEffect, useState } from 'preact/compat'
import { Brand } from '../../design/brand.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'
import { forgetKey, keepKey, storedKey } from '../../shared/key-storage.ts'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { hideAllToasts } from '../data/toasts.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { RequestNotice } from '../ui/notices.tsx'
import { canUsePins, vault } from './device-people.ts'
import { linkedCode, pair, pairingFailure, parseCode } from './pairing.ts'
import { CardForm, PinForm, useNewPin } from './pin-forms.tsx'
import type { Session } from './session.ts'
import { KEY_FORM, openSession, openStoredKey, signIn } from './signed-in.ts'
import type { Person } from './vault.ts'

type Step =
  | { readonly type: 'people' }
  | { readonly type: 'pin'; readonly person: Person }
  /** `linked` is the code of the link that was opened. */
  | { readonly type: 'code'; readonly linked?: string }
  | { readonly type: 'welcome'; readonly paired: KeyWithSecret }
  /** `typed` is the key that was entered as a code. */
  | { readonly type: 'key'; readonly typed?: string }

interface Props {
  /** Why the last session ended by itself. */
  readonly reason: string | undefined
  /** The person to ask for the PIN first. */
  readonly personId: string | undefined
}

export function SignIn({ reason, personId }: Props) {
  const linked = useReadable(linkedCode)
  const people = useReadable(vault.people)
  const [chosen, setStep] = useState<Step>(() => firstStep(personId))
  const step = isOffered(chosen, people) ? chosen : firstStep(undefined)
  const [notice, setNotice] = useState(reason)
  useEffect(() => {
    document.title = 'Sign in · Petstore'
    hideAllToasts()
  }, [])
  useEffect(() => {
    if (linked === undefined) return
    setStep({ type: 'code', linked })
    linkedCode.set(undefined)
  }, [linked])
  const goTo = (next: Step) => {
    setNotice(undefined)
    setStep(next)
  }
  const others = people.length > 0 && step.type !== 'people' && step.type !== 'welcome'
  return (
    <div className="sign-in">
      <header className="topbar">
        <Brand />
        <div className="topbar__end">
          <ThemeSwitch />
        </div>
      </header>
      <main className="sign-in__main">
        {notice !== undefined && (
          <p className="notice notice--caution sign-in__notice" role="status">
            {notice}
          </p>
        )}
        {step.type === 'people' && (
          <div className="card sign-in__card">
            <h1>Who is working?</h1>
            <ul className="stack">
              {people.map((person) => (
                <li key={person.id}>
                  <Button className="sign-in__person" onClick={() => goTo({ type: 'pin', person })}>
                    {person.name}
                  </Button>
                </li>
              ))}
            </ul>
          </div>
        )}
        {step.type === 'pin' && (
          <PinForm
            person={step.person}
            onRemoved={(why) => {
              setNotice(why)
              setStep(firstStep(undefined))
            }}
          />
        )}
        {step.type === 'code' && (
          <CodeForm
            key={step.linked}
            linked={step.linked}
            onPaired={(paired) => goTo({ type: 'welcome', paired })}
            onKey={(typed) => goTo({ type: 'key', typed })}
          />
        )}
        {step.type === 'welcome' && <Welcome paired={step.paired} isShared={people.length > 0} />}
        {step.type === 'key' && <KeyForm typed={step.typed} />}
        {step.type !== 'welcome' && (
          <div className="cluster">
            {others && <Button onClick={() => goTo({ type: 'people' })}>People on this device</Button>}
            {storedKey() !== undefined && <Button onClick={openStoredKey}>Continue without a code</Button>}
            {step.type !== 'code' && <Button onClick={() => goTo({ type: 'code' })}>Use a code</Button>}
            {step.type === 'code' && <Button onClick={() => goTo({ type: 'key' })}>Use an API key</Button>}
          </div>
        )}
        {(step.type === 'code' || step.type === 'key') && <OperatorHelp />}
      </main>
      <Confirm />
    </div>
  )
}

function firstStep(personId: string | undefined): Step {
  const linked = linkedCode.get()
  if (linked !== undefined) return { type: 'code', linked }
  const people = vault.people.get()
  const person = people.find(({ id }) => id === personId)
  if (person !== undefined) return { type: 'pin', person }
  return people.length > 0 ? { type: 'people' } : { type: 'code' }
}

/** Whether the person of the step is still on this device. */
function isOffered(step: Step, people: readonly Person[]): boolean {
  if (step.type === 'pin') return people.some(({ id }) => id === step.person.id)
  return step.type !== 'people' || people.length > 0
}

interface CodeFormProps {
  /** The code of the link that was opened. It is tried at once. */
  readonly linked: string | undefined
  readonly onPaired: (paired: KeyWithSecret) => void
  readonly onKey: (key: string) => void
}

const KEY_START = 'pst_'

function CodeForm({ linked, onPaired, onKey }: CodeFormProps) {
  const [text, setText] = useState(linked ?? '')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isKey = text.trim().startsWith(KEY_START)
  const exchange = async (typed: string) => {
    const code = parseCode(typed)
    if (code === undefined) {
      setProblem('A code has 8 letters and digits.')
      return
    }
    setProblem(undefined)
    setBusy(true)
    try {
      onPaired(await pair(code))
    } catch (error) {
      setProblem(pairingFailure(error, Date.now()))
      setBusy(false)
    }
  }
  useEffect(() => {
    if (linked !== undefined) void exchange(linked)
  }, [])
  const submit = () => {
    if (isKey) onKey(text.trim())
    else if (!isBusy) void exchange(text)
  }
  return (
    <CardForm title="Sign in" onSubmit={submit}>
      <TextField
        className="sign-in__code"
        label="Sign-in code"
        hint="8 letters and digits. The person who manages People in your shop gives you one."
        placeholder="ABCD-EFGH"
        maxLength={100}
        type={isKey ? 'password' : 'text'}
        autoFocus
        value={text}
        onChange={setText}
        problem={problem}
      />
      <Button type="submit" tone="primary" isBusy={isBusy}>
        {isBusy ? 'Signing in' : 'Sign in'}
      </Button>
    </CardForm>
  )
}

interface WelcomeProps {
  readonly paired: KeyWithSecret
  /** Other people use this device with a PIN, so everybody needs one. */
  readonly isShared: boolean
}

/** After a code was accepted: says who is signed in, and asks how to keep the key on this device. */
function Welcome({ paired: { key, secret }, isShared }: WelcomeProps) {
  const { fields, button, submit } = useNewPin('Save the PIN and start', async (pin) => {
    await vault.add({ id: key.id, name: key.name }, secret, pin)
    forgetKey()
    openSession(secret, key.id)
  })
  const startWithoutPin = () => {
    keepKey(secret, true)
    openStoredKey()
  }
  if (!canUsePins) {
    return (
      <CardForm title={`Hello, ${key.name}`} onSubmit={startWithoutPin}>
        <p>PINs need a secure connection (https). You stay signed in on this device until you sign out.</p>
        <Button onClick={startWithoutPin}>Start</Button>
      </CardForm>
    )
  }
  return (
    <CardForm title={`Hello, ${key.name}`} onSubmit={() => void submit()}>
      <p>Choose a PIN for this device. You enter it when you come back.</p>
      {storedKey() !== undefined && (
        <p className="muted small">The person who is signed in here without a PIN is signed out.</p>
      )}
      {fields}
      {button}
      {!isShared && <Button onClick={startWithoutPin}>Only I use this device: no PIN</Button>}
    </CardForm>
  )
}

/** A key that was entered as a code is tried at once. */
function KeyForm({ typed }: { readonly typed: string | undefined }) {
  const [key, setKey] = useState(typed ?? '')
  const [remember, setRemember] = useState(false)
  const [trying, setTrying] = useState<Session | 'starting'>()
  const [problem, setProblem] = useState<string>()
  const submit = async () => {
    const apiKey = key.trim()
    if (!KEY_FORM.test(apiKey)) {
      setProblem(
        apiKey === '' ? 'Enter your API key.' : 'A key has letters, digits and signs, and no spaces.',
      )
      return
    }
    setProblem(undefined)
    setTrying('starting')
    try {
      await signIn(apiKey, remember, setTrying)
    } catch (error) {
      setProblem(failureWords(error))
      setTrying(undefined)
    }
  }
  useEffect(() => {
    if (typed !== undefined) void submit()
  }, [])
  return (
    <CardForm title="Sign in with a key" onSubmit={() => trying === undefined && void submit()}>
      <TextField
        label="Your API key"
        hint={`For owners and programs. It begins with ${KEY_START}.`}
        type="password"
        autoFocus
        value={key}
        onChange={setKey}
        problem={problem}
      />
      <label className="choice">
        <input
          className="checkbox"
          type="checkbox"
          checked={remember}
          onChange={({ currentTarget }) => setRemember(currentTarget.checked)}
        />
        Remember the key on this machine
      </label>
      {typeof trying === 'object' && <Waiting session={trying} />}
      <Button type="submit" tone="primary" isBusy={trying !== undefined}>
        {trying === undefined ? 'Sign in' : 'Signing in'}
      </Button>
      <p className="muted small">
        {remember
          ? 'You stay signed in until you sign out. Do this only if nobody else uses this browser.'
          : 'You are signed out when the last tab of this page is closed.'}
      </p>
    </CardForm>
  )
}

/** Why signing in takes long, if it does. */
function Waiting({ session }: { readonly session: Session }) {
  const state = useReadable(session.requests)
  return (
    <div role="status">
      <RequestNotice state={state} />
      {state.isUnreachable && <p className="notice notice--caution">No answer yet. Trying again.</p>}
    </div>
  )
}

function OperatorHelp() {
  return (
    <details className="sign-in__operators">
      <summary>Trying the demo, or running the service?</summary>
      <p>
        The demo has the key <code>pst_demo_enterprise</code>. Enter it above, instead of a code.
      </p>
      <p>For a shop, create the key of the owner, and enter it above:</p>
      <pre className="sign-in__command">
        <code>petstore keys create --name "Anna" --plan pro --owner</code>
      </pre>
      <p>
        The owner adds everybody else in People, and gets a code for a phone there. For programs, see{' '}
        <a href="/docs">the API docs</a>.
      </p>
    </details>
  )
}
