import { KeptWork } from '../data/kept-work.ts'
import { onWorkElsewhere } from '../data/work-elsewhere.ts'
import type { KeyOwner, Session } from '../session/session.ts'
import { CountDesk } from './count-desk.ts'
import { KeptCount } from './kept-count.ts'

const desks = new WeakMap<Session, CountDesk>()

/** The count of whoever is signed in. It goes on while another view is shown, and what is on its way with it. */
export function countOf(session: Session, owner: KeyOwner): CountDesk {
  const known = desks.get(session)
  if (known !== undefined) return known
  const { saving, feed } = session
  const kept = new KeptWork(owner.id, 'count')
  const reloadStock = () => void feed.reload()
  const desk = new CountDesk({ saving, kept: new KeptCount(kept), reloadStock })
  onWorkElsewhere(kept, desk.readAgain, saving.signal)
  desks.set(session, desk)
  return desk
}
