import { KeptWork } from '../data/kept-work.ts'
import { onWorkElsewhere } from '../data/work-elsewhere.ts'
import type { KeyOwner, Session } from '../session/session.ts'
import { DeliveryDesk } from './delivery-desk.ts'

const desks = new WeakMap<Session, DeliveryDesk>()

/** The delivery of whoever is signed in. It goes on while another view is shown, and what is on its way with it. */
export function deliveryOf(session: Session, owner: KeyOwner): DeliveryDesk {
  const known = desks.get(session)
  if (known !== undefined) return known
  const { saving, undo } = session
  const kept = new KeptWork(owner.id, 'receive')
  const desk = new DeliveryDesk({ saving, undo, kept })
  onWorkElsewhere(kept, desk.readAgain, saving.signal)
  desks.set(session, desk)
  return desk
}
