import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseWebhookUrl } from '../core/webhooks/webhook-url.ts'

/** Resolves a host name to its addresses. Rejects if the name cannot be resolved. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** The only part of IPv6 that is assigned to the public internet. */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether the address is outside of all special-purpose networks (IANA registry). IPv4 mapped into IPv6 is never public. */
export function isPublic(text: string): boolean {
  // ipaddr.js also parses other notations, such as 0x7f.1.
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST_IPV6)
}

/** Why nothing is sent to a url or a host. `problem` completes the sentence "url …". */
export interface Refusal {
  readonly type: 'refused'
  readonly problem: string
}

function refusal(problem: string): Refusal {
  return { type: 'refused', problem }
}

/** Checks a url without looking up its host. */
export function checkUrl(
  text: string,
  allowsPrivate: boolean,
): { readonly type: 'allowed'; readonly url: URL } | Refusal {
  const parsed = parseWebhookUrl(text, allowsPrivate)
  if (parsed.type === 'refused') return parsed
  const host = hostOf(parsed.url)
  const isPrivate = isIP(host) !== 0 && !isPublic(host)
  return isPrivate && !allowsPrivate ? notPublic(host) : { type: 'allowed', url: parsed.url }
}

/** The host without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** The addresses of a host, in the order in which they are tried. */
export interface HostAddresses {
  readonly type: 'allowed'
  readonly addresses: readonly string[]
}

/**
 * Looks up the addresses of a host and checks all of them. If private addresses are not allowed, every refusal has the same
 * text, so that it reveals neither which internal names exist nor their addresses.
 */
export async function findAddresses(
  host: string,
  lookup: Lookup,
  allowsPrivate: boolean,
): Promise<HostAddresses | Refusal> {
  const addresses = isIP(host) === 0 ? await lookup(host).catch(() => []) : [host]
  if (allowsPrivate) {
    return addresses.length === 0
      ? refusal(`names ${host}, which has no address; check the name`)
      : { type: 'allowed', addresses }
  }
  return addresses.length > 0 && addresses.every(isPublic) ? { type: 'allowed', addresses } : notPublic(host)
}

function notPublic(host: string): Refusal {
  return refusal(
    `must be on the public internet, got ${host}; check the name. The operator can allow private addresses with WEBHOOK_PRIVATE_ADDRESSES=on`,
  )
}
