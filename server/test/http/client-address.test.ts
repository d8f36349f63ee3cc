import { expect, test } from 'bun:test'
import { clientAddress } from '../../src/http/request-context.ts'

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
  ['a shortened IPv6 address', '2001:db8::1', null, 0, '2001:db8:0:0::/64'],
  ['the IPv6 loopback address', '::1', null, 0, '0:0:0:0::/64'],
  ['the port of an IPv4 address does not count', '10.0.0.1', '203.0.113.7:51234', 1, '203.0.113.7'],
  ['nor does the port of an IPv6 address', '10.0.0.1', '[2001:db8:1:2::1]:443', 1, '2001:db8:1:2::/64'],
  ['an IPv6 address in brackets', '10.0.0.1', '[2001:db8:1:2:3::]', 1, '2001:db8:1:2::/64'],
  [
    'an IPv6 address without brackets, whose end looks like a port',
    '10.0.0.1',
    '2001:db8:1:2::443',
    1,
    '2001:db8:1:2::/64',
  ],
  ['an IPv6 address with redundant zeros', '10.0.0.1', '2001:0DB8:0001:0002::1', 1, '2001:db8:1:2::/64'],
  ['IPv4 inside IPv6 with a port', '10.0.0.1', '[::ffff:192.0.2.1]:80', 1, '192.0.2.1'],
  [
    'an invalid address stays, truncated',
    '10.0.0.1',
    `unknown${'x'.repeat(90)}`,
    1,
    `unknown${'x'.repeat(57)}`,
  ],
] as const)('%s', (_, socket, forwarded, proxies, expected) => {
  expect(clientAddress(socket, forwarded, proxies)).toBe(expected)
})
