import { normalizeUrl, WEBHOOK_KINDS, type WebhookKind, type WebhookPatch } from '../core/webhooks/webhook.ts'
import { invalid, shown } from './request-input.ts'

type Fields = Readonly<Record<string, unknown>>

/** Each throws a ServiceError that says which field is wrong and why. Whether a url may be called is checked later. */
export function readNewWebhook(body: object): { readonly url: string; readonly kinds: WebhookKind[] } {
  const { url, kinds }: Fields = { ...body }
  return { url: readUrl(url), kinds: readKinds(kinds) }
}

export function readWebhookUpdate(body: object): { readonly patch: WebhookPatch } {
  const { url, kinds, paused }: Fields = { ...body }
  const patch = {
    ...(url === undefined ? {} : { url: readUrl(url) }),
    ...(kinds === undefined ? {} : { kinds: readKinds(kinds) }),
    ...(paused === undefined ? {} : { paused: readPaused(paused) }),
  }
  if (Object.keys(patch).length === 0)
    throw invalid('the body must have at least one of url, kinds and paused, got none of them')
  return { patch }
}

function readUrl(value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    throw invalid(`url must be an address such as https://shop.example/hooks, got ${shown(value)}`)
  }
  const normalized = normalizeUrl(value)
  if ('problem' in normalized) throw invalid(`url ${normalized.problem}`)
  return normalized.url
}

/** In the order in which the contract has them. */
function readKinds(value: unknown): WebhookKind[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid(`kinds must be a list of at least one of ${WEBHOOK_KINDS.join(', ')}, got ${shown(value)}`)
  }
  for (const [index, kind] of value.entries()) {
    if (!WEBHOOK_KINDS.includes(kind)) {
      throw invalid(`kinds[${index}] must be one of ${WEBHOOK_KINDS.join(', ')}, got ${shown(kind)}`)
    }
    if (value.indexOf(kind) !== index) throw invalid(`kinds has ${shown(kind)} twice; give it once`)
  }
  return WEBHOOK_KINDS.filter((kind) => value.includes(kind))
}

function readPaused(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(`paused must be true or false, got ${shown(value)}`)
}
