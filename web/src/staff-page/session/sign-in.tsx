import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { Brand } from '../../design/brand.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { hideAllToasts } from '../data/toasts.ts'
import { Button } from '../ui/button.tsx'
import { RequestNotice } from '../ui/notices.tsx'
import type { Session } from './session.ts'
import { KEY_FORM, signIn } from './signed-in.ts'

/** `reason` says why the session before ended. */
export function SignIn({ reason }: { readonly reason: string | undefined }) {
  const [key, setKey] = useState('')
  const [remember, setRemember] = useState(false)
  const [trying, setTrying] = useState<Session | 'starting'>()
  const [failure, setFailure] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const id = useId()

  useEffect(() => {
    document.title = 'Sign in · Petstore'
    hideAllToasts()
    field.current?.focus()
  }, [])

  const submit = async () => {
    const apiKey = key.trim()
    if (!KEY_FORM.test(apiKey)) {
      setFailure(
        apiKey === '' ? 'Enter your API key.' : 'A key has letters, digits and signs, and no spaces.',
      )
      field.current?.focus()
      return
    }
    setFailure(undefined)
    setTrying('starting')
    try {
      await signIn(apiKey, remember, setTrying)
    } catch (error) {
      setFailure(failureWords(error))
      setTrying(undefined)
      field.current?.focus()
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (trying === undefined) void submit()
  }

  return (
    <div className="sign-in">
      <header className="topbar">
        <Brand />
        <div className="topbar__end">
          <ThemeSwitch />
        </div>
      </header>
      <main className="sign-in__main">
        <form className="card sign-in__card" onSubmit={onSubmit} aria-labelledby={`${id}-title`}>
          <div>
            <h1 id={`${id}-title`}>Sign in</h1>
            <p className="muted">
              See what is in stock, receive, count and correct it, and look after orders.
            </p>
          </div>
          {reason !== undefined && failure === undefined && (
            <p className="notice notice--caution" role="status">
              {reason}
            </p>
          )}
          <div className="field">
            <label className="field__label" htmlFor={`${id}-key`}>
              Your API key
            </label>
            <input
              ref={field}
              id={`${id}-key`}
              className="input"
              type="password"
              autoComplete="off"
              spellCheck={false}
              value={key}
              aria-invalid={failure !== undefined}
              aria-describedby={`${id}-hint ${id}-failure`}
              onChange={({ currentTarget }) => setKey(currentTarget.value)}
            />
            <p id={`${id}-hint`} className="field__hint">
              The long code that you were given for this shop; it begins with <code>pst_</code>. If you have
              none, or it does not work, ask whoever looks after the shop’s computers.
            </p>
            <p id={`${id}-failure`} className="field__error" role="alert">
              {failure}
            </p>
          </div>
          <label className="sign-in__remember">
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
          <p className="field__hint">
            {remember
              ? 'You stay signed in until you sign out. Do this only where nobody else uses this browser.'
              : 'You are signed out when the last tab of this page is closed.'}
          </p>
        </form>
        <details className="sign-in__operators">
          <summary>For whoever runs the service</summary>
          <p>
            Create a key for each person or till, so that the history shows who changed what. The key is
            displayed once:
          </p>
          <pre className="sign-in__command">
            <code>petstore keys create --name "Front desk" --plan pro</code>
          </pre>
          <p>
            <code>--may stock,orders</code> limits what it may change. The demo has the key{' '}
            <code>pst_demo_pro</code>. More in <a href="/docs">the API docs</a>.
          </p>
        </details>
      </main>
    </div>
  )
}

/** Says why signing in takes long. */
function Waiting({ session }: { readonly session: Session }) {
  const state = useReadable(session.requests)
  return (
    <div role="status">
      <RequestNotice state={state} />
      {state.isUnreachable && <p className="notice notice--caution">No answer yet. Trying again.</p>}
    </div>
  )
}
