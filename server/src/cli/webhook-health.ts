import { MINUTE } from '../core/values/clock.ts'
import type { Webhook } from '../core/webhooks/webhook.ts'
import type { WebhookState } from '../core/webhooks/webhook-store.ts'
import { counted, moment } from './output.ts'

/** More than this is no mere moment. */
const BEHIND_MS = 5 * MINUTE
const BEHIND_EVENTS = 10_000

export type WebhookCondition = 'on' | 'failing' | 'paused' | 'off'

export function conditionOf({ paused, progress: { off, failure } }: Webhook): WebhookCondition {
  if (off !== undefined) return 'off'
  if (paused) return 'paused'
  return failure === undefined ? 'on' : 'failing'
}

/** What an operator should know of a webhook that is turned off or far behind, and what to do; else undefined. */
export function webhookTrouble(
  { webhook, lag }: WebhookState,
  now: number,
): { readonly text: string; readonly advice: string } | undefined {
  const { id, url, progress } = webhook
  // The rest of the address may be a secret of the receiver's.
  const which = `webhook ${id} (${URL.parse(url)?.host ?? 'no address'})`
  const resume = `petstore webhooks resume ${id}`
  const { off, failure } = progress
  if (off !== undefined) {
    const text = `${which} was turned off at ${moment(off.at)}: ${off.reason}`
    return { text, advice: `mend the receiver, then turn it on: ${resume}; it goes on from its place` }
  }
  const isBehind = lag.events > BEHIND_EVENTS || (lag.since !== undefined && now - lag.since > BEHIND_MS)
  if (!isBehind) return undefined
  const since = lag.since === undefined ? '' : `, since ${moment(lag.since)}`
  const text = `${which} is ${counted(lag.events, 'event')} behind${since}`
  if (webhook.paused) return { text: `${text}; it is paused`, advice: `let it go on: ${resume}` }
  if (failure === undefined) {
    return {
      text,
      advice: 'petstore serve delivers; if it runs, its log and the answering time of the receiver tell more',
    }
  }
  const advice = `petstore webhooks deliveries ${id} says why; once the receiver is mended, ${resume} tries at once`
  return { text: `${text}; it has failed since ${moment(failure.since)}`, advice }
}
