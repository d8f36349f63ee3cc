/** Longer than any address is. */
const MAX_LENGTH = 64
/** Some proxies write the port beside the address. */
const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/
const WITH_PORT = /^([^:]+):\d+$/
const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const LEADING_ZEROS = /^0+(?=.)/

/**
 * The address a request is counted by when it has no valid key. X-Forwarded-For is believed only as far as
 * our own proxies wrote it: with N of them in front, that is the Nth entry from the right.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | null,
  trustedProxies: number,
): string {
  const hops = trustedProxies > 0 ? (forwardedFor?.split(',') ?? []) : []
  const forwarded = hops.at(-Math.min(trustedProxies, hops.length))?.trim()
  return networkOf((forwarded || socketAddress).slice(0, MAX_LENGTH))
}

/** Whatever its port. An IPv6 customer has a whole /64 to send from, so that is what is counted. */
function networkOf(given: string): string {
  const address = BRACKETED.exec(given)?.[1] ?? WITH_PORT.exec(given)?.[1] ?? given
  const ipv4 = IPV4_IN_IPV6.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right]
  const network = groups.slice(0, 4).map((group) => group.replace(LEADING_ZEROS, ''))
  return `${network.join(':')}::/64`
}
