import type { ClientErrorCode, PetstoreErrorCode } from '@petstore/client'
import { type Html, html } from './html.ts'
import { recordLink, statusBadge } from './reference.ts'
import { type Site, table } from './site.ts'

/** The contract says when an error occurs; this says what a program does about it. */
const WHAT_TO_DO: Readonly<Record<Exclude<PetstoreErrorCode, ClientErrorCode>, string>> = {
  invalid_request: 'Correct the request. The message says which part is wrong.',
  unauthorized: 'Send a valid key. Do not retry with the same key.',
  forbidden:
    'Use a key with the permission that the message names. GET /limits returns the permissions of a key.',
  not_found: 'Check the id and the path.',
  method_not_allowed: 'Use a method that the `Allow` header lists.',
  request_timeout: 'Send the whole request at once, over a new connection.',
  gone: 'Use the operation that replaces it.',
  insufficient_stock: 'Take fewer units, or wait for more. `details` lists each pet and its available units.',
  order_closed: 'If the hold expired, order again. `details` has the state of the order.',
  already_reversed:
    'Read the adjustment: its lines say how many units were reversed, and by which adjustment.',
  too_late: 'Count the pet now, and send the count without `occurredAt`.',
  in_use:
    'Complete or cancel the open orders of the pet, or move the pets to another category, then remove it. Remove a webhook before you create another. Give another key the permission `keys` first. Resume a key, or extend it, before you create a pairing code.',
  already_exists: 'Use the existing pet, or another id or barcode. The message says which pet has it.',
  precondition_failed: 'Read the entry again, decide again, and send its new ETag or quantity.',
  payload_too_large: 'Send a smaller body.',
  idempotency_key_reused:
    'Use a new idempotency key for each change, and repeat it only with the same request.',
  rate_limit_exceeded: 'Wait for `Retry-After`, then retry.',
  key_banned: 'Wait for `Retry-After`, and send fewer requests.',
  internal_error: 'Retry once, then report the problem with the request id.',
  service_unavailable: 'Wait for `Retry-After`, then retry.',
}

/** What `{{name}}` stands for in a guide. */
export function contractTable(site: Site, name: string): Html {
  switch (name) {
    case 'plans':
      return plans(site)
    case 'error-codes':
      return errorCodes(site)
    case 'webhook-types':
      return webhookTypes(site)
    default:
      throw new Error(`there is no table and no number {{${name}}}`)
  }
}

function plans({ contract }: Site): Html {
  const inDigits = (count: number | undefined) => count?.toLocaleString('en-US') ?? 'as agreed'
  const rows = Object.entries(contract.document['x-rate-limits'].plans).map(([plan, limits]) => ({
    cells: [plan, inDigits(limits?.perMinute), inDigits(limits?.perDay)],
  }))
  return table(['Plan', 'Per minute', 'Per day'], rows)
}

function errorCodes(site: Site): Html {
  const rows = site.contract.document['x-error-codes'].map(({ code, status, description }) => {
    const advice: string | undefined = WHAT_TO_DO[code as keyof typeof WHAT_TO_DO]
    if (advice === undefined) throw new Error(`add ${code} to WHAT_TO_DO of web/docs/contract-tables.ts`)
    const cells = [
      statusBadge(status),
      html`<code>${code}</code>`,
      site.inline(description),
      site.inline(advice),
    ]
    return { id: code, cells }
  })
  return table(['Status', 'Code', 'When', 'What to do'], rows)
}

function webhookTypes(site: Site): Html {
  const rows = Object.entries(site.contract.document.webhooks).map(([type, { post }]) => {
    const body = post.requestBody?.content['application/json']?.schema ?? {}
    return { cells: [html`<code>${type}</code>`, recordLink(body), `${post.summary}.`] }
  })
  return table(['Type', 'Body', 'Meaning'], rows)
}
