import { BlockList, isIP } from 'node:net'
import { MAX_URL_LENGTH } from '../core/webhooks/webhook.ts'

/** Gives the addresses of a name; rejects where it has none. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** Below 1024, nothing else is meant for strangers. */
const LOW_PORTS = ['', '443', '80']
const FIRST_FREE_PORT = 1_025

/**
 * What does not belong to the public internet (the IANA registries of special-purpose addresses): this host, private
 * networks, link-local ones with the metadata services of clouds, and ways around these within IPv6.
 */
const NOT_PUBLIC = blockList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...[
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
  ],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...[
    '::/128',
    '::1/128',
    '::/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
  ],
  ...['2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
])
const MAPPED = blockList(['::ffff:0:0/96'])

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !NOT_PUBLIC.check(address, 'ipv4')
  // One of IPv4 in the clothes of IPv6 is nothing that a name of the internet has.
  return family === 6 && !NOT_PUBLIC.check(address, 'ipv6') && !MAPPED.check(address, 'ipv6')
}

/** The address, or why nothing is sent there. The name is not looked up. */
export function checkedUrl(text: string, allowsPrivate: boolean): URL | string {
  const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text)
  if (url === null) return `must be an address of at most ${MAX_URL_LENGTH} characters`
  if (url.protocol !== 'https:' && !(allowsPrivate && url.protocol === 'http:')) {
    return allowsPrivate ? 'must begin with https:// or http://' : 'must begin with https://'
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not have a user name or a password in it; deliveries are signed'
  }
  if (!LOW_PORTS.includes(url.port) && Number(url.port) < FIRST_FREE_PORT) {
    return 'must have the port 443, 80, 8080, 8443 or one above 1024'
  }
  const host = hostOf(url)
  if (!allowsPrivate && isIP(host) !== 0 && !isPublic(host)) return notPublic(host, host)
  return url
}

/** Without the brackets around an address of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Where to connect to: the first address of the host; or why not. All of them have to be public. */
export async function addressOf(
  host: string,
  lookup: Lookup,
  allowsPrivate: boolean,
): Promise<{ readonly address: string } | string> {
  let addresses: readonly string[]
  try {
    addresses = isIP(host) === 0 ? await lookup(host) : [host]
  } catch {
    return `names ${host}, which cannot be looked up; check the name`
  }
  const wrong = allowsPrivate ? undefined : addresses.find((address) => !isPublic(address))
  if (wrong !== undefined) return notPublic(host, wrong)
  const [address] = addresses
  return address === undefined ? `names ${host}, which has no address; check the name` : { address }
}

function notPublic(host: string, address: string): string {
  const name = host === address ? host : `${host}, which is ${address}`
  return `must be on the public internet, got ${name}; whoever runs the service may allow others with WEBHOOK_PRIVATE_ADDRESSES=on`
}
