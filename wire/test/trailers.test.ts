import { afterAll, describe, expect, test } from 'bun:test'
import { type Echo, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'

const listener = listenWith(echo)
afterAll(() => listener.stop(0))

async function sendWith(trailers: string): Promise<HostileSocket> {
  const socket = await HostileSocket.open(listener.port)
  socket.send(
    'PATCH / HTTP/1.1\r\nHost: a\r\nX-One: head\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npets\r\n0\r\n',
  )
  socket.send(`${trailers}\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n`)
  return socket
}

describe('trailers after a chunked body', () => {
  test.each([
    ['one', 'X-Checksum: 12\r\n'],
    ['several', 'A: 1\r\nB:2\r\nC:\r\n'],
    [
      'headers that matter in a head',
      'Content-Length: 50\r\nTransfer-Encoding: chunked\r\nX-One: trailer\r\n',
    ],
    ['8 KiB of them', `X-Long: ${'l'.repeat(8 * 1024 - 12)}\r\n`],
  ])('are read and dropped: %s', async (_, trailers) => {
    const socket = await sendWith(trailers)
    const seen = JSON.parse((await socket.answer('PATCH'))?.text ?? '') as Echo
    expect(Buffer.from(seen.body, 'base64').toString()).toBe('pets')
    expect(seen.headers).toMatchObject({ 'x-one': 'head', 'content-length': null })
    expect((await socket.answer())?.text).toContain('/next')
    socket.end()
  })

  test.each([
    ['no name', ': a\r\n'],
    ['no colon', 'a\r\n'],
    ['a space before the colon', 'A : a\r\n'],
    ['a bare line feed', 'A: a\n'],
    ['a control character', 'A: a\0\r\n'],
    ['a request', 'GET /smuggled HTTP/1.1\r\n'],
    ['more than 8 KiB on a line', `X-Long: ${'l'.repeat(8 * 1024)}\r\n`],
    ['more than 8 KiB on many', 'X-Short: s\r\n'.repeat(700)],
  ])('that are malformed close the connection: %s', async (_, trailers) => {
    const socket = await sendWith(trailers)
    const answer = await socket.answer('PATCH')
    expect(answer).toMatchObject({ status: 400, text: 'malformed' })
    expect(answer?.headers.get('Connection')).toBe('close')
    await socket.closed
    expect(socket.received).toBe('')
  })
})
