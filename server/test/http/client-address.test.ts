import { expect, test } from 'bun:test'
import { clientAddress } from '../../src/http/client-address.ts'

test.each([
  ['without a proxy the socket counts', '192.0.2.1', '203.0.113.9', 0, '192.0.2.1'],
  ['behind one proxy its entry counts', '10.0.0.1', '1.1.1.1, 203.0.113.9', 1, '203.0.113.9'],
  [
    'behind two proxies the entry of the first counts',
    '10.0.0.1',
    '1.1.1.1, 203.0.113.9, 10.0.0.2',
    2,
    '203.0.113.9',
  ],
  ['fewer entries than proxies: the leftmost counts', '10.0.0.1', '203.0.113.9', 3, '203.0.113.9'],
  ['no header: the socket counts', '10.0.0.1', null, 1, '10.0.0.1'],
  ['an empty header: the socket counts', '10.0.0.1', ' ', 1, '10.0.0.1'],
  ['IPv4 inside IPv6 is IPv4', '::ffff:192.0.2.1', null, 0, '192.0.2.1'],
  ['an IPv6 address counts as its /64', '2001:DB8:1:2:3:4:5:6', null, 0, '2001:db8:1:2::/64'],
  ['with zeros left out', '2001:db8::1', null, 0, '2001:db8:0:0::/64'],
  ['the loopback of IPv6', '::1', null, 0, '0:0:0:0::/64'],
] as const)('%s', (_, socket, forwarded, proxies, expected) => {
  expect(clientAddress(socket, forwarded, proxies)).toBe(expected)
})
