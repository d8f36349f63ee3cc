import type { Key } from '@petstore/client'
import { useCallback, useEffect, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { PeopleList, type PersonState, peopleFailure, personState } from '../data/people.ts'
import { permissionWords } from '../data/permission-words.ts'
import { showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Moment } from '../ui/changes.tsx'
import { ask } from '../ui/confirm.tsx'
import { useNow } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import { PairingDialog } from './pairing-dialog.tsx'
import { PersonDialog } from './person-dialog.tsx'
import './people.css'

/** Without a person, the dialog `edit` adds one. */
type OpenDialog =
  | { readonly type: 'edit'; readonly person?: Key }
  | { readonly type: 'pair'; readonly person: Key }

const STATE_BADGES: Readonly<Record<Exclude<PersonState, 'active'>, string>> = {
  paused: 'Paused',
  expired: 'Expired',
  revoked: 'Revoked',
}

export function PeopleView() {
  const owner = useReadable(useSession().owner)
  const mayManage = owner?.permissions.includes('keys')
  return (
    <section className="view view--list people" aria-label="People">
      {mayManage === true && <People ownId={owner?.id} />}
      {mayManage === false && (
        <>
          <h1>People</h1>
          <div className="card">
            <Empty title="You may not manage people">
              <p>Ask a person who has the permission People.</p>
            </Empty>
          </div>
        </>
      )}
    </section>
  )
}

function People({ ownId }: { readonly ownId: string | undefined }) {
  const { client, requests } = useSession()
  const [list] = useState(() => new PeopleList(client.keys))
  const snapshot = useReadable(list)
  const people = snapshot.rows
  const [shown, setShown] = useState<'current' | 'revoked'>('current')
  const [dialog, setDialog] = useState<OpenDialog>()
  const now = useNow(30_000, requests.clock.now)
  useEffect(() => {
    void list.reload()
  }, [list])
  const close = useCallback(() => setDialog(undefined), [])
  const own = people.find(({ id }) => id === ownId)
  const rows = people.filter((person) => (person.revokedAt !== undefined) === (shown === 'revoked'))
  return (
    <>
      <div className="cluster view__head">
        <h1>People</h1>
        <SegmentedControl
          label="Which people"
          options={[
            { value: 'current', label: 'Current' },
            { value: 'revoked', label: 'Revoked' },
          ]}
          value={shown}
          onChange={setShown}
        />
        <Button tone="primary" icon="plus" onClick={() => setDialog({ type: 'edit' })}>
          Add a person
        </Button>
      </div>
      <p className="muted">
        Everybody has a name here, so that Activity shows who changed what. A lost phone or tablet: revoke the
        people who used it.
      </p>
      <ListFrame
        label="People"
        list={{
          get: () => ({ ...snapshot, rows }),
          reload: () => list.reload(),
          loadMore: () => list.loadMore(),
        }}
        empty={<Empty title={shown === 'revoked' ? 'Nobody was revoked' : 'Nobody yet'} />}
      >
        {rows.map((person) => (
          <PersonRow
            key={person.id}
            person={person}
            isOwn={person.id === ownId}
            now={now}
            list={list}
            onOpen={setDialog}
          />
        ))}
      </ListFrame>
      {dialog?.type === 'edit' && (
        <PersonDialog
          list={list}
          own={own}
          person={dialog.person}
          onClose={close}
          onAdded={(person) => setDialog({ type: 'pair', person })}
        />
      )}
      {dialog?.type === 'pair' && <PairingDialog list={list} person={dialog.person} onClose={close} />}
    </>
  )
}

interface RowProps {
  readonly person: Key
  readonly isOwn: boolean
  readonly now: number
  readonly list: PeopleList
  readonly onOpen: (dialog: OpenDialog) => void
}

function PersonRow({ person, isOwn, now, list, onOpen }: RowProps) {
  const { id, name, plan, permissions, limits, usedToday, lastUsedAt } = person
  const state = personState(person, now)
  const [isBusy, setBusy] = useState(false)
  const run = async (action: () => Promise<void>) => {
    setBusy(true)
    try {
      await action()
    } catch (error) {
      showToast({ name: 'people', text: peopleFailure(error), tone: 'negative' })
    }
    setBusy(false)
  }
  const revoke = async () => {
    const isSure = await ask({
      title: `Revoke ${name}?`,
      text: [
        'All devices of this person are signed out now. This cannot be undone.',
        'The name stays in Activity.',
      ],
      yes: 'Revoke',
      no: 'Cancel',
    })
    if (isSure) await run(() => list.revoke(id))
  }
  const pause = async () => {
    const isSure = await ask({
      title: `Pause ${name}?`,
      text: [
        'All devices of this person are signed out now. After you press Resume, they can sign in again.',
      ],
      yes: 'Pause',
      no: 'Cancel',
    })
    if (isSure) await run(() => list.change(id, { paused: true }))
  }
  return (
    <li className="list-row person">
      <div>
        <span className="list-row__name">{name}</span>{' '}
        {isOwn && <span className="badge badge--accent badge--plain">You</span>}
        {state !== 'active' && (
          <span className={`badge badge--${state === 'paused' ? 'caution' : 'negative'}`}>
            {STATE_BADGES[state]}
          </span>
        )}
        <p className="muted small">{permissionWords(permissions)}</p>
      </div>
      <p className="muted small number person__usage">
        {usedToday.toLocaleString('en')} of {limits.perDay.toLocaleString('en')} requests today
        <br />
        Plan {plan}
      </p>
      <div className="person__seen muted small">
        {lastUsedAt === undefined ? 'Never seen' : <Moment at={Date.parse(lastUsedAt)} now={now} />}
      </div>
      {state !== 'revoked' && (
        <div className="cluster cluster--end person__actions">
          {state === 'active' && (
            <Button
              size="small"
              aria-label={`Sign-in code for ${name}`}
              onClick={() => onOpen({ type: 'pair', person })}
            >
              Code
            </Button>
          )}
          <Button size="small" aria-label={`Edit ${name}`} onClick={() => onOpen({ type: 'edit', person })}>
            Edit
          </Button>
          <Button
            size="small"
            isBusy={isBusy}
            aria-label={`${person.paused ? 'Resume' : 'Pause'} ${name}`}
            onClick={() => void (person.paused ? run(() => list.change(id, { paused: false })) : pause())}
          >
            {person.paused ? 'Resume' : 'Pause'}
          </Button>
          <Button size="small" tone="danger" aria-label={`Revoke ${name}`} onClick={() => void revoke()}>
            Revoke
          </Button>
        </div>
      )}
    </li>
  )
}
