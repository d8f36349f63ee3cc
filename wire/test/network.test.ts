import { expect, test } from 'bun:test'
import { networkOf } from '../src/network.ts'

/** Runs a command in a network of its own, whose addresses it may change. */
const OWN_NETWORK = ['unshare', '--map-root-user', '--net', 'sh', '-c']
const canAddAddresses =
  Bun.which('unshare') !== null &&
  Bun.which('ip') !== null &&
  Bun.spawnSync([...OWN_NETWORK, 'ip link set lo up && ip -6 address show dev lo | grep -q ::1']).success

test.each([
  ['an IPv4 address', '192.0.2.1', '192.0.2.1'],
  ['IPv4 inside IPv6', '::ffff:192.0.2.1', '192.0.2.1'],
  ['a full IPv6 address', '2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['a shortened IPv6 address', '2001:db8::1', '2001:db8:0:0::/64'],
  ['zeros in the middle of the network', '2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
  ['redundant zeros', '2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
  ['a link-local address', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['the IPv6 loopback address', '::1', '0:0:0:0::/64'],
  ['no address', '', ''],
])('the network of %s', (_, address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.skipIf(!canAddAddresses)('the limit of connections counts an IPv6 /64 as one address', () => {
  const addresses = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff::3', '2001:db8:0:2::1']
  const commands = [
    'ip link set lo up',
    ...addresses.map((address) => `ip address add ${address}/64 dev lo nodad`),
    'exec "$0" "$@"',
  ]
  const client = [process.execPath, `${import.meta.dir}/ipv6-clients.ts`, '2', ...addresses]
  const { stdout, stderr } = Bun.spawnSync([...OWN_NETWORK, commands.join(' && '), ...client])
  expect(stderr.toString()).toBe('')
  expect(JSON.parse(stdout.toString())).toEqual([200, 200, 503, 200])
})
