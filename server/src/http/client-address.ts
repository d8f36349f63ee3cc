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
  return networkOf(forwarded || socketAddress)
}

/** An IPv6 customer has a whole /64 to send from, so that is what is counted. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!address.includes(':')) return address.slice(0, 64)
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}
