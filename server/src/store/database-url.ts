/** An address as people may see it: without a password in it, also where it is not quite an address. */
export function withoutPassword(address: string): string {
  if (address.startsWith('sqlite:')) return address
  const scheme = /^(?:\w+:?\/\/|postgres(?:ql)?:)/.exec(address)?.[0] ?? ''
  const colon = address.indexOf(':', scheme.length)
  const at = address.lastIndexOf('@')
  const shown = colon === -1 || colon > at ? address : `${address.slice(0, colon)}:***${address.slice(at)}`
  return shown.replace(/([?&]password=)[^&#]*/gi, '$1***')
}
