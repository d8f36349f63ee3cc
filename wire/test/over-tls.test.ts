import { afterAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:tls'
import { ByteReader } from './byte-reader.ts'
import { type Echo, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import {
  CERTIFICATE,
  CHAIN_CA,
  CHAIN_CERTIFICATE,
  CHAIN_PRIVATE_KEY,
  PRIVATE_KEY,
  RSA_CERTIFICATE,
  RSA_PRIVATE_KEY,
} from './test-certificate.ts'

const listener = listenWith(echo, { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } })
afterAll(() => listener.stop(0))

const address = `https://localhost:${listener.port}`
const tls = { ca: CERTIFICATE }

describe('over TLS', () => {
  test('a request with a body is echoed', async () => {
    for (const body of ['pets', 'x'.repeat(64 * 1024)]) {
      const response = await fetch(`${address}/echo?a=b`, { method: 'PATCH', body, tls })
      expect((await response.json()) as Echo).toMatchObject({
        method: 'PATCH',
        path: '/echo',
        query: 'a=b',
        body: Buffer.from(body).toString('base64'),
      })
    }
  })

  test('pipelined requests are answered in order', async () => {
    const reader = await ByteReader.open(listener.port, true)
    reader.send('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const text = (await reader.rest()).toString('latin1')
    expect(text.match(/"path":"[^"]*"/g)).toEqual(['"path":"/1"', '"path":"/2"'])
  })

  test.each([
    ['AES128-SHA', false],
    ['AES256-SHA', false],
    ['AES128-GCM-SHA256', false],
    ['AES256-GCM-SHA384', false],
    ['ECDHE-RSA-AES128-SHA', false],
    ['ECDHE-RSA-AES128-GCM-SHA256', true],
    ['ECDHE-RSA-AES256-GCM-SHA384', true],
    ['ECDHE-RSA-CHACHA20-POLY1305', true],
  ])('only ciphers with forward secrecy and integrity are offered: %s', async (ciphers, isOffered) => {
    const rsaListener = listenWith(echo, { tls: { cert: RSA_CERTIFICATE, key: RSA_PRIVATE_KEY } })
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const address = { port: rsaListener.port, host: '127.0.0.1', servername: 'localhost' }
    const socket = connect({ ...address, ca: RSA_CERTIFICATE, maxVersion: 'TLSv1.2', ciphers })
    socket.once('secureConnect', () => resolve(true))
    socket.once('error', () => resolve(false))
    expect(await promise).toBe(isOffered)
    socket.destroy()
    await rsaListener.stop(0)
  })

  test('a client without TLS is disconnected, and other clients are served', async () => {
    const socket = await HostileSocket.open(listener.port)
    socket.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await socket.closed
    expect(socket.received).not.toContain('HTTP/1.1 200')
    expect((await fetch(address, { tls })).status).toBe(200)
  })
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a certificate is sent with its chain: %s', async (version) => {
  const chained = listenWith(echo, { tls: { cert: CHAIN_CERTIFICATE, key: CHAIN_PRIVATE_KEY } })
  expect(await certificateName(chained.port, CHAIN_CA, version)).toBe('renewed.test')
  await chained.stop(0)
})

/** The name in the certificate that the listener uses. `ca` must have signed it, and the listener must answer a request. */
function certificateName(
  port: number,
  ca: string,
  version: 'TLSv1.2' | 'TLSv1.3',
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  const versions = { minVersion: version, maxVersion: version }
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...versions })
  socket.once('error', reject)
  socket.once('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
  socket.once('data', () => resolve(socket.getPeerCertificate().subject.CN?.toString()))
  return promise.finally(() => socket.destroy())
}
