import { failureWords } from '../data/failure-words.ts'
import type { Change } from '../data/history/change-log.ts'
import {
  findReversal,
  loadAdjustment,
  newReversal,
  type Reversal,
  type ReversalResult,
  reverseAdjustment,
} from '../data/history/reverse.ts'
import { whyWords } from '../data/reason-words.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { momentWords } from '../data/time-words.ts'
import { showToast, type Toast } from '../data/toasts.ts'
import { ask } from '../ui/confirm.tsx'
import { petsWords } from '../ui/words.ts'

export type RefusedPet = Extract<ReversalResult, { type: 'refused' }>['pets'][number]

/** Asks whether to reverse the whole adjustment that made this change. Returns the pets that do not allow it. */
export async function askAndReverse(context: SaveContext, change: Change): Promise<readonly RefusedPet[]> {
  const { client, signal } = context
  const { reason, reference, at } = change
  if (reason === undefined) return []
  try {
    const purpose = { reason, reference, at }
    const changes = await loadAdjustment(client, change, signal)
    const earlier = await findReversal(client, changes, purpose, signal)
    const isSure = await ask({
      title: `Reverse ${whyWords(change)}?`,
      text: [
        `${sizeWords(changes)}, changed on ${momentWords(at)}. One correction changes all of them back, or none.`,
        ...(earlier === undefined
          ? []
          : [`Careful: ${earlier.keyName ?? 'somebody'} already reversed it on ${momentWords(earlier.at)}.`]),
      ],
      yes: 'Reverse',
      no: 'Keep it',
    })
    return isSure ? await reverse(context, newReversal(changes, purpose)) : []
  } catch (error) {
    if (!signal.aborted) warn(failureWords(error))
    return []
  }
}

async function reverse(context: SaveContext, reversal: Reversal): Promise<readonly RefusedPet[]> {
  const result = await reverseAdjustment(context, reversal)
  switch (result.type) {
    case 'refused':
      return result.pets
    case 'done':
      showToast({ name: 'reverse', text: `Reversed. Stock updated for ${petsWords(result.changes.length)}.` })
      return []
    case 'failed':
      warn(`Not reversed. ${result.why}`)
      return []
    case 'unsure':
      warn('Not sure it was saved. Check now; it is never counted twice.', {
        label: 'Check now',
        run: () => void reverse(context, result.repeat),
      })
      return []
  }
}

function warn(text: string, action?: Toast['action']): void {
  showToast({ name: 'reverse', tone: 'negative', text, ...(action === undefined ? {} : { action }) })
}

/** Such as `12 pets, 96 pieces`. */
export function sizeWords(changes: readonly Change[], mayHaveMore = false): string {
  const pieces = changes.reduce((sum, { before, after }) => sum + Math.abs(after - before), 0)
  return `${petWords(changes, mayHaveMore)}, ${countWords(pieces, 'piece', mayHaveMore)}`
}

/** Such as `12 pets`. */
export function petWords(rows: readonly { readonly petId: bigint }[], mayHaveMore: boolean): string {
  return countWords(new Set(rows.map(({ petId }) => petId)).size, 'pet', mayHaveMore)
}

function countWords(count: number, noun: string, mayHaveMore: boolean): string {
  return `${count.toLocaleString('en')}${mayHaveMore ? '+' : ''} ${noun}${count === 1 ? '' : 's'}`
}
