const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const LEADING_ZEROS = /^0+(?=.)/

/** An IPv4 address, or the /64 network of an IPv6 address, because one customer can send from any address in it. */
export function networkOf(address: string): string {
  const ipv4 = IPV4_IN_IPV6.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  if (!address.includes(':')) return address
  // A full address has eight groups; `::` stands for the groups of zeros that were left out.
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeroGroups = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array<string>(zeroGroups).fill('0'), ...right]
  const network = groups.slice(0, 4).map((group) => group.replace(LEADING_ZEROS, ''))
  return `${network.join(':')}::/64`
}
