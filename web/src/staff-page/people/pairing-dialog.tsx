import { isPetstoreError, type Key } from '@petstore/client'
import { lazy, Suspense, useCallback, useEffect, useState } from 'preact/compat'
import { CopyButton } from '../../shared/copy-button.tsx'
import { type PeopleList, peopleFailure } from '../data/people.ts'
import { pairingLink } from '../session/pairing.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useNow } from '../ui/hooks.ts'

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }))

/** How often the dialog checks whether the code was used. Each check is a request. */
const CHECK_EVERY_MS = 5_000
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

interface Props {
  readonly list: PeopleList
  readonly person: Key
  readonly onClose: () => void
}

/** Shows a code that signs in one device of the person, as QR code and as text. */
export function PairingDialog({ list, person: { id, name }, onClose }: Props) {
  const { requests } = useSession()
  const now = useNow(1_000, requests.clock.now)
  const [code, setCode] = useState<Awaited<ReturnType<PeopleList['createCode']>>>()
  const [failure, setFailure] = useState<string>()
  const [isUsed, setUsed] = useState(false)
  const create = useCallback(async () => {
    setFailure(undefined)
    try {
      setCode(await list.createCode(id))
    } catch (error) {
      setFailure(
        isPetstoreError(error, 'in_use')
          ? 'This person is paused or expired, so a code would not work. Resume a paused person first.'
          : peopleFailure(error),
      )
    }
  }, [list, id])
  useEffect(() => void create(), [create])
  useEffect(() => {
    if (code === undefined) return
    const check = async () => {
      // A check that fails is repeated.
      const devices = await list.devicesOf(id).catch(() => code.devices)
      if (devices !== code.devices) setUsed(true)
    }
    const timer = setInterval(() => void check(), CHECK_EVERY_MS)
    return () => clearInterval(timer)
  }, [code, list, id])
  const left = code === undefined ? 0 : Math.max(0, Math.ceil((Date.parse(code.expiresAt) - now) / 1_000))
  return (
    <Dialog title={`Sign in ${name}`} onClose={onClose}>
      {(close) => (
        <>
          {failure !== undefined && (
            <p className="notice notice--negative" role="alert">
              {failure}
            </p>
          )}
          {code !== undefined && !isUsed && left > 0 && <Code code={code.code} left={left} />}
          {code !== undefined && !isUsed && left === 0 && <p>The code has expired.</p>}
          <div role="status">{isUsed && <p className="notice notice--accent">{name} has signed in.</p>}</div>
          <div className="dialog__actions">
            {!isUsed && (failure !== undefined || (code !== undefined && left === 0)) && (
              <Button onClick={() => void create()}>New code</Button>
            )}
            <Button tone="primary" onClick={close}>
              Done
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

function Code({ code, left }: { readonly code: string; readonly left: number }) {
  const link = pairingLink(code)
  return (
    <div className="pairing">
      <Suspense fallback={<div className="pairing__qr skeleton" />}>
        <QrCode text={link} label="QR code with the sign-in link" />
      </Suspense>
      <div className="stack">
        <p>Scan this with the camera of the phone or tablet. Or open this page there and type the code:</p>
        <p className="pairing__code">{code}</p>
        <p className="muted number">
          Works once, for {Math.floor(left / 60)}:{String(left % 60).padStart(2, '0')} more minutes.
        </p>
        <p>
          Or send the link: <CopyButton text={link} what="the link" />
        </p>
        {LOCAL_HOSTS.has(location.hostname) && (
          <p className="muted small">
            This page was opened as {location.host}, so the link works only on this computer. Open the page
            with its network address to sign in other devices.
          </p>
        )}
      </div>
    </div>
  )
}
