import type { WorkPlace } from '../data/work/draft.ts'
import { Outbox } from '../data/work/outbox.ts'
import type { KeyOwner } from './session.ts'
import { perSession } from './work-frame.tsx'

/** The work of this browser that is not booked yet. All tabs and all people share it. */
const outbox = new Outbox()

/** The outbox, which sends the documents of the person who is signed in. */
export const workPlaceOf = perSession(({ saving }, owner: KeyOwner): WorkPlace => {
  outbox.start(saving, owner)
  return { outbox, saving, owner }
})
