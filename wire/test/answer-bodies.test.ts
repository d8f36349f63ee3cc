import { afterAll, describe, expect, test } from 'bun:test'
import type { ResponseBody } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { decodeChunks } from './decode-chunks.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** The body of the response to each path. A test sets it before its request. */
const bodies = new Map<string, () => ResponseBody>()
const requestedPaths = new Set<string>()
const listener = listenWith(({ path }) => {
  requestedPaths.add(path)
  return answerOf(bodies.get(path)?.() ?? null)
})
afterAll(() => listener.stop(0))

function setBody(target: string, body: () => ResponseBody): void {
  requestedPaths.delete(target)
  bodies.set(target, body)
}

/** Bytes that differ at every position, so that the tests notice lost, doubled or moved bytes. */
function numberedBytes(size: number): Buffer {
  const numbers = new Uint32Array(Math.ceil(size / 4))
  for (let index = 0; index < numbers.length; index++) numbers[index] = Math.imul(index, 2654435761)
  return Buffer.from(numbers.buffer, 0, size)
}

const requestFor = (target: string, version = '1.1') =>
  `GET ${target} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`

/** Requests the body but reads nothing for a while, so that most of the response has to wait. */
async function readLate(target: string) {
  const reader = await ByteReader.open(listener.port)
  reader.send(requestFor(target))
  await until(() => requestedPaths.has(target))
  await Bun.sleep(20)
  return reader.lastAnswer()
}

describe('a body of text', () => {
  test.each([
    ['nothing', ''],
    ['ASCII', 'pets'],
    ['characters of two bytes, one in memory', 'Zoë'],
    ['characters of two bytes', 'Мурка'],
    ['characters of three and four bytes', '猫 and 🐶'],
    ['many characters of two bytes', 'é'.repeat(20_000)],
    ['a character of four bytes at the end', `${'x'.repeat(30_000)}🐶`],
  ])('arrives as UTF-8, with its length in bytes: %s', async (_, text) => {
    setBody('/text', () => text)
    const socket = await HostileSocket.open(listener.port)
    socket.send(requestFor('/text'))
    const answer = await socket.answer()
    expect(answer?.text).toBe(text)
    expect(answer?.headers.get('Content-Length')).toBe(String(Buffer.byteLength(text)))
    await socket.closed
    expect(socket.received).toBe('')
  })

  test('with a lone surrogate has the announced length', async () => {
    setBody('/half', () => 'a\ud83db')
    const socket = await HostileSocket.open(listener.port)
    socket.send(requestFor('/half'))
    expect((await socket.answer())?.text).toBe('a\ufffdb')
    await socket.closed
    expect(socket.received).toBe('')
  })

  test.each([
    ['one byte per character in memory', 'é-'],
    ['two bytes per character in memory', '猫🐶é-'],
  ])('of 12 MiB arrives whole at a client that waits first: %s', async (_, letters) => {
    const text = letters.repeat(Math.ceil((12 * MIB) / Buffer.byteLength(letters)))
    setBody('/long-text', () => text)
    const { body } = await readLate('/long-text')
    expect(body.equals(Buffer.from(text))).toBe(true)
  })
})

describe('a body of bytes', () => {
  test.each([0, 1, 16 * KIB, 16 * KIB + 1, MIB])('of %i bytes arrives unchanged', async (size) => {
    const bytes = numberedBytes(size)
    setBody('/bytes', () => bytes)
    const reader = await ByteReader.open(listener.port)
    reader.send(requestFor('/bytes'))
    const { head, body } = await reader.lastAnswer()
    expect(head).toContain(`\r\nContent-Length: ${size}`)
    expect(body.equals(bytes)).toBe(true)
  })

  test('of 20 MiB arrives unchanged at a client that waits first', async () => {
    const bytes = numberedBytes(20 * MIB)
    setBody('/many-bytes', () => bytes)
    expect((await readLate('/many-bytes')).body.equals(bytes)).toBe(true)
  })
})

describe('small bodies', () => {
  test('that wait for their client do not change when others are sent meanwhile', async () => {
    const sent = 1_500
    const size = 15_000
    let produced = 0
    setBody('/small', () => Buffer.alloc(size, String(produced++ % 7)))
    setBody('/other', () => Buffer.alloc(size, 'x'))
    const reader = await ByteReader.open(listener.port)
    reader.send('GET /small HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(sent) + requestFor('/other'))
    // Waits until the network accepts no more bytes, so that a response is sent only in part.
    for (let before = -1; before < produced; await Bun.sleep(15)) before = produced
    expect(produced).toBeLessThan(sent)
    const socket = await HostileSocket.open(listener.port)
    socket.send(requestFor('/other'))
    await socket.closed
    const answers = (await reader.rest()).toString('latin1').split('HTTP/1.1 200 OK\r\n').slice(1)
    expect(answers).toHaveLength(sent + 1)
    const isRight = (answer: string, index: number) =>
      answer.endsWith(`\r\n\r\n${(index === sent ? 'x' : String(index % 7)).repeat(size)}`)
    expect(answers.findIndex((answer, index) => !isRight(answer, index))).toBe(-1)
  })
})

describe('a body in parts', () => {
  test.each([
    ['none', []],
    ['an empty part', [0]],
    ['empty parts in between', [0, 5, 0, 0, 1, 0]],
    ['small and large parts', [1, 15, 16, 255, 256, 70_000, 3, MIB, 1]],
  ])('arrives in chunks with the same bytes: %s', async (_, sizes) => {
    const parts = sizes.map((size) => numberedBytes(size))
    setBody('/parts', () => parts)
    const reader = await ByteReader.open(listener.port)
    reader.send(requestFor('/parts'))
    const { head, body } = await reader.lastAnswer()
    expect(head).toContain('\r\nTransfer-Encoding: chunked')
    expect(head).not.toContain('Content-Length')
    expect(decodeChunks(body).equals(Buffer.concat(parts))).toBe(true)
  })

  test.each(['1.1', '1.0'])(
    'is produced as it is read, and arrives complete at an HTTP/%s reader that starts late',
    async (version) => {
      const whole = numberedBytes(16 * MIB)
      let produced = 0
      setBody('/in-parts', function* () {
        for (produced = 0; produced < 256; produced++)
          yield whole.subarray(produced * 64 * KIB, (produced + 1) * 64 * KIB)
      })
      const reader = await ByteReader.open(listener.port)
      reader.send(requestFor('/in-parts', version))
      await until(() => produced > 0)
      await Bun.sleep(30)
      expect(produced).toBeLessThan(250)
      const { body } = await reader.lastAnswer()
      expect((version === '1.1' ? decodeChunks(body) : body).equals(whole)).toBe(true)
    },
  )

  test('is abandoned when its client goes away', async () => {
    let isProduced = false
    let isAbandoned = false
    setBody('/abandoned', function* () {
      try {
        for (;;) {
          isProduced = true
          yield Buffer.alloc(64 * KIB)
        }
      } finally {
        isAbandoned = true
      }
    })
    const reader = await ByteReader.open(listener.port)
    reader.send(requestFor('/abandoned'))
    await until(() => isProduced)
    expect(isAbandoned).toBe(false)
    reader.leave()
    await until(() => isAbandoned)
  })
})
