import { BlockList, isIP } from 'node:net'

/** Resolves a host name to its addresses. Rejects if the name cannot be resolved. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** The other low ports belong to services that do not expect webhooks. The default port of a scheme is ''. */
const ALLOWED_LOW_PORTS = ['', '443', '80']
const MAX_LOW_PORT = 1_024

/** Special-purpose networks (IANA registry): this host, private and link-local networks, documentation, multicast. */
const SPECIAL_IPV4 = subnets([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/** The only part of IPv6 that is assigned to the public internet. */
const GLOBAL_UNICAST_IPV6 = subnets(['2000::/3'])

/** Special-purpose networks within 2000::/3: protocol assignments, documentation, and IPv4 in IPv6 (Teredo and 6to4). */
const SPECIAL_IPV6 = subnets(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

function subnets(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !SPECIAL_IPV4.check(address, 'ipv4')
  return family === 6 && GLOBAL_UNICAST_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6')
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
  const url = URL.parse(text)
  if (url === null) return refusal('must be a url such as https://shop.example/hooks')
  if (allowsPrivate) {
    if (!['https:', 'http:'].includes(url.protocol)) return refusal('must begin with https:// or http://')
  } else if (url.protocol !== 'https:') {
    return refusal('must begin with https://')
  }
  if (!ALLOWED_LOW_PORTS.includes(url.port) && Number(url.port) <= MAX_LOW_PORT) {
    return refusal('must use port 443, port 80 or a port above 1024')
  }
  const host = hostOf(url)
  if (!allowsPrivate && isIP(host) !== 0 && !isPublic(host)) return notPublic(host)
  return { type: 'allowed', url }
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
