import { describe, expect, test } from 'bun:test'
import { checkUrl, findAddresses, isPublic } from '../../src/delivery/addresses.ts'
import { HttpSender } from '../../src/delivery/http-sender.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const ALWAYS = { isValid: () => true }
const MESSAGE = { id: 'evt_1', type: 'stock.changed', body: '{}' }

test.each([
  ...['8.8.8.8', '1.1.1.1', '100.63.255.255', '172.15.0.1', '172.32.0.1', '192.169.0.1', '223.255.255.255'],
  ...['2606:4700:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '3ffe::1'],
])('%s is public', (address) => expect(isPublic(address)).toBe(true))

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
  ...[
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
  ],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::'],
  ...['::ffff:0:7f00:1', '4000::1', '1fff::1', '2620:4f:8000::1', '3fff::1', '64:ff9b:1::1', '100::1'],
  ...['2001::1', '2001:db8::1', 'fc00::1', 'fd12::1', 'fe80::1', 'fd00:ec2::254', 'ff02::1', 'shop', ''],
])('%s is not', (address) => expect(isPublic(address)).toBe(false))

describe('the url of a webhook', () => {
  const taken = ['https://shop.example/', 'https://shop.example:8443/x?y=1', 'https://8.8.8.8:1025/']
  test.each([...taken, 'https://shop.example:80/', 'https://shop.example:8080/'])('%s is accepted', (text) =>
    expect(checkUrl(text, false).type).toBe('allowed'),
  )

  test.each([
    ['http://shop.example/', 'must begin with https://'],
    ['file:///etc/passwd', 'must be an absolute url with a scheme and a host'],
    ['https://shop.example:25/', 'must use port 443'],
    ['https://shop.example:1024/', 'must use port 443'],
    ['https://127.0.0.1/', 'must be on the public internet, got 127.0.0.1'],
    ['https://2130706433/', 'must be on the public internet, got 127.0.0.1'],
    ['https://0x7f.1/', 'must be on the public internet, got 127.0.0.1'],
    ['https://[::1]/', 'must be on the public internet, got ::1'],
    ['https://[::ffff:169.254.169.254]/', 'must be on the public internet'],
    ['https://[::ffff:0:127.0.0.1]/', 'must be on the public internet'],
    ['https://[4000::1]/', 'must be on the public internet'],
    ['shop', 'must be an absolute url with a scheme and a host'],
    ['https:93.184.216.34', 'must be an absolute url with a scheme and a host'],
    [`https://shop.example/${'x'.repeat(2_000)}`, 'must have at most 2000 characters, got 2021'],
    [`https://shop.example/${'ü'.repeat(1_900)}`, 'must have at most 2000 characters'],
    ['https://shop.example/\u0000', 'control characters, got U+0000 at position 22'],
    ['https://shop.example/\r\nHost: a', 'control characters, got U+000D at position 22'],
    [' https://shop.example/', 'must not contain blanks or control characters, got U+0020'],
    ['https://shop.example/\ud800', 'must be valid Unicode'],
    ['https:\\\\shop.example\\hooks', 'must not contain a backslash'],
    ['https://shop.example:70000/', 'must have a port of at most 65535, got "70000"'],
    ['https://shop.example:no/', 'must have a valid host name'],
    ['https://[::1/', 'must have a valid host name'],
    ['https://me:pw@shop.example/', 'must not contain a user name or a password'],
    ['https://shop.example:22/', 'must use port 443, port 80 or a port above 1024'],
  ])('%s is rejected: %s', (text, reason) =>
    expect(checkUrl(text, false)).toEqual({ type: 'refused', problem: expect.stringContaining(reason) }),
  )

  test('may be on loopback and use http if private addresses are allowed', () => {
    for (const text of ['http://127.0.0.1:9000/', 'http://shop.local/', 'https://[::1]:8443/'])
      expect(checkUrl(text, true).type).toBe('allowed')
    const lowPort = checkUrl('http://127.0.0.1:22/', true)
    expect(lowPort).toEqual({ type: 'refused', problem: expect.stringContaining('must use port 443') })
  })

  test('must have public addresses only', async () => {
    const all: Readonly<Record<string, readonly string[]>> = {
      'good.example': ['8.8.8.8', '2606:4700::1'],
      'half.example': ['8.8.8.8', '10.0.0.1'],
      'none.example': [],
    }
    const lookup = async (host: string) => all[host] ?? Promise.reject(new Error('ENOTFOUND'))
    const allowed = (...addresses: string[]) => ({ type: 'allowed', addresses }) as const
    const refused = (reason: string) =>
      ({ type: 'refused', problem: expect.stringContaining(reason) }) as const
    const found = (host: string, allowsPrivate = false) => findAddresses(host, lookup, allowsPrivate)
    expect(await found('good.example')).toEqual(allowed('8.8.8.8', '2606:4700::1'))
    // The texts do not differ, because they would reveal which internal names exist.
    for (const host of ['half.example', 'none.example', 'typo.example']) {
      expect(await found(host)).toEqual(
        refused(`must be on the public internet, got ${host}; check the name.`),
      )
    }
    expect(await found('none.example', true)).toEqual(refused('has no address'))
    expect(await found('half.example', true)).toEqual(allowed('8.8.8.8', '10.0.0.1'))
  })
})

test('a name that is public when it is checked and on loopback when it is connected to is rejected', async () => {
  const receiver = new WebhookReceiver()
  const answers = [['203.0.114.1'], ['127.0.0.1']]
  const sender = new HttpSender({
    allowsPrivate: false,
    clock: Date.now,
    lookup: async () => answers.shift() ?? ['127.0.0.1'],
  })
  const url = `https://rebinding.example:${receiver.port}/`
  expect(await sender.checkUrl(url)).toEqual({ url })
  const result = await sender.send(url, ['whsec_AAAA'], MESSAGE, ALWAYS)
  expect([result?.status, result?.error]).toEqual([
    undefined,
    expect.stringContaining('must be on the public internet, got rebinding.example; check the name'),
  ])
  expect(receiver.all).toHaveLength(0)
  await receiver.stop()
})

test('the connection goes to the checked address, even if the name changes in the meantime', async () => {
  const receiver = new WebhookReceiver()
  const asked: string[] = []
  const sender = new HttpSender({
    allowsPrivate: true,
    clock: Date.now,
    lookup: async (host) => {
      asked.push(host)
      return ['127.0.0.1']
    },
  })
  // A name that no other resolver knows.
  const url = `http://only-here.invalid:${receiver.port}/hook?token=1`
  const result = await sender.send(url, ['whsec_AAAA'], MESSAGE, ALWAYS)
  expect([result?.status, asked]).toEqual([204, ['only-here.invalid']])
  await receiver.stop()
})

test('addresses are tried until one accepts the request', async () => {
  const receiver = new WebhookReceiver()
  // Nothing listens on the first two, so connections to them are refused.
  const lookup = async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1']
  const sender = new HttpSender({ allowsPrivate: true, clock: Date.now, lookup })
  const url = `http://several.invalid:${receiver.port}/hook`
  expect(await sender.send(url, ['whsec_AAAA'], MESSAGE, ALWAYS)).toMatchObject({ status: 204 })
  await receiver.stop()
  expect((await sender.send(url, ['whsec_AAAA'], MESSAGE, ALWAYS))?.error).toContain('could not be reached')
})

test('each attempt starts with the next address', async () => {
  const receiver = new WebhookReceiver()
  const other = new WebhookReceiver(receiver.port, '127.0.0.2')
  const lookup = async () => ['127.0.0.2', '127.0.0.1']
  const sender = new HttpSender({ allowsPrivate: true, clock: Date.now, lookup })
  const url = `http://several.invalid:${receiver.port}/hook`
  for (let sent = 0; sent < 4; sent++) await sender.send(url, ['whsec_AAAA'], MESSAGE, ALWAYS)
  expect([receiver.all.length, other.all.length]).toEqual([2, 2])
  await Promise.all([receiver.stop(), other.stop()])
})

test('after an address that accepts a connection and then drops it, the next address is tried', async () => {
  const receiver = new WebhookReceiver()
  let dropped = 0
  const dropping = Bun.listen({
    hostname: '127.0.0.2',
    port: receiver.port,
    socket: {
      open: (socket) => {
        dropped++
        socket.terminate()
      },
      data: () => {},
    },
  })
  const lookup = async () => ['127.0.0.2', '127.0.0.1']
  const sender = new HttpSender({ allowsPrivate: true, clock: Date.now, lookup })
  const url = `http://several.invalid:${receiver.port}/hook`
  const result = await sender.send(url, ['whsec_AAAA'], MESSAGE, ALWAYS)
  expect(result).toMatchObject({ status: 204 })
  expect(dropped).toBeGreaterThan(0)
  dropping.stop(true)
  await receiver.stop()
})

test('proxies in the environment are ignored', async () => {
  const receiver = new WebhookReceiver()
  const proxied = Bun.env.HTTP_PROXY
  Bun.env.HTTP_PROXY = 'http://127.0.0.1:9'
  try {
    expect(await fetch(receiver.url).catch(() => 'through the proxy')).toBe('through the proxy')
    const sender = new HttpSender({ allowsPrivate: true, clock: Date.now })
    const result = await sender.send(receiver.url, ['whsec_AAAA'], MESSAGE, ALWAYS)
    expect(result).toMatchObject({ status: 204 })
  } finally {
    if (proxied === undefined) delete Bun.env.HTTP_PROXY
    else Bun.env.HTTP_PROXY = proxied
    await receiver.stop()
  }
})

test('a lookup times out after 5 s', async () => {
  const lookup = () => new Promise<never>(() => {})
  const sender = new HttpSender({ allowsPrivate: false, clock: Date.now, lookup })
  const [{ urlProblem }, result] = await Promise.all([
    sender.checkUrl('https://slow.example/'),
    sender.send('https://slow.example/', ['whsec_AAAA'], MESSAGE, ALWAYS),
  ])
  expect(urlProblem).toStartWith('must be on the public internet, got slow.example; check the name.')
  expect([result?.error, result?.status]).toEqual([`the url ${urlProblem}`, undefined])
}, 120_000)

test('nothing is sent if the permit ends during the lookup, or while the connection is being made', async () => {
  const receiver = new WebhookReceiver()
  const found = Promise.withResolvers<readonly string[]>()
  const sender = new HttpSender({ allowsPrivate: true, clock: Date.now, lookup: () => found.promise })
  let isValid = true
  const url = `http://slow.invalid:${receiver.port}/hook`
  const sending = sender.send(url, ['whsec_AAAA'], MESSAGE, { isValid: () => isValid })
  isValid = false
  found.resolve(['127.0.0.1'])
  expect(await sending).toBeUndefined()
  expect(receiver.all).toEqual([])

  const connected = Promise.withResolvers<void>()
  const received: string[] = []
  // Accepts the connection and does not answer the TLS handshake.
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => connected.resolve(),
      data: (_, data) => void received.push(data.toString('latin1')),
    },
  })
  const aborting = new AbortController()
  const permit = { isValid: () => true, signal: aborting.signal }
  const connecting = sender.send(`https://127.0.0.1:${silent.port}/hook`, ['whsec_AAAA'], MESSAGE, permit)
  await connected.promise
  aborting.abort()
  expect(await connecting).toBeUndefined()
  expect(received.join()).not.toContain('webhook-signature')
  silent.stop(true)
  await receiver.stop()
})
