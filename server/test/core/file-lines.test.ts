import { describe, expect, test } from 'bun:test'
import { array, asyncProperty, assert as check, constantFrom, integer, string } from 'fast-check'
import { type Encoding, linesOf, NotUtf8 } from '../../src/core/transfer/files.ts'

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function linesIn(bytes: Uint8Array, chunkSize = 1_000, encoding: Encoding = 'utf8'): Promise<string[]> {
  const lines: string[] = []
  for await (const batch of linesOf(inChunks(bytes, chunkSize), 'the file', encoding)) lines.push(...batch)
  return lines
}

const notUtf8 = (line: number) => new NotUtf8('the file', line)

describe('Text that is UTF-8', () => {
  test('is split into lines, with or without a byte order mark, in any chunks', async () => {
    const text = string({ unit: constantFrom('a', 'é', '狗', '🐶', '\n', '\r\n', '\ufffd', '\ufeff') })
    await check(
      asyncProperty(
        text,
        constantFrom('', '\ufeff'),
        integer({ min: 1, max: 9 }),
        async (body, mark, size) => {
          const lines = await linesIn(Buffer.from(`${mark}a${body}`), size)
          expect(lines).toEqual(`a${body}`.replace(/\n$/, '').split('\n'))
        },
      ),
    )
  })
})

describe('Text that is not UTF-8', () => {
  test.each([
    ['in the first line', 'M\xfcller', 1],
    ['in the last line', 'a\r\nb\r\nM\xfcller\r\n', 3],
    ['as the last byte', 'a\nb\n\xfc', 3],
    ['in two lines', 'a\n\xe4\nb\n\xf6', 2],
    ['after characters that are split', 'aaaa\xc3\xa9\xf0\x9f\x90\xb6\n\xfc', 2],
    ['where it could start a character', 'a\n\xf0\n\n', 2],
  ])('is rejected with its line: %s', async (_, text, line) => {
    for (const size of [1, 2, 3, 5, 1_000]) {
      await expect(linesIn(Buffer.from(text, 'latin1'), size)).rejects.toThrow(notUtf8(line))
    }
  })

  test('is rejected with the line of the first invalid byte, at any position and in any chunks', async () => {
    const line = string({ unit: constantFrom('a', 'é', '狗', '🐶', '\ufffd') })
    const bad = constantFrom([0xfc], [0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x90], [0xed, 0xa0, 0x80])
    const numbers = integer({ min: 1, max: 9 })
    await check(
      asyncProperty(
        array(line),
        line,
        bad,
        array(line),
        numbers,
        async (before, start, bytes, after, size) => {
          const whole = Buffer.concat([
            Buffer.from([...before, start].join('\n')),
            Buffer.from(bytes),
            Buffer.from(`\n${after.join('\n')}`),
          ])
          await expect(linesIn(whole, size)).rejects.toThrow(notUtf8(before.length + 1))
        },
      ),
    )
  })

  test('is suggested to be Latin-1', () => {
    expect(notUtf8(2).message).toBe('the file is not UTF-8 (line 2) but probably Latin-1 (Windows-1252)')
  })

  test('is a workbook if it starts like one', async () => {
    const workbook = Buffer.from('PK\x03\x04\x14\0\x06\0\b\0\0\0!\0A7\x82\xcf', 'latin1')
    await expect(linesIn(workbook)).rejects.toThrow(
      new Error('the file is a spreadsheet workbook, not a CSV file; save it as CSV (in Excel: CSV UTF-8)'),
    )
  })

  test('is read if declared as Latin-1, including the characters of Windows-1252', async () => {
    const text = 'M\xfcller\n\x80 \x84x\x93 \x99\n\xff'
    for (const size of [1, 4, 1_000]) {
      expect(await linesIn(Buffer.from(text, 'latin1'), size, 'latin1')).toEqual(['Müller', '€ „x“ ™', 'ÿ'])
    }
  })

  test.each([
    ['UTF-16, little-endian', [0xff, 0xfe, 0x70, 0], 'the file is UTF-16; save it as UTF-8'],
    ['UTF-16, big-endian', [0xfe, 0xff, 0, 0x70], 'the file is UTF-16; save it as UTF-8'],
  ])('is rejected as %s, in either encoding', async (_, bytes, message) => {
    for (const encoding of ['utf8', 'latin1'] as const) {
      await expect(linesIn(new Uint8Array(bytes), 9, encoding)).rejects.toThrow(new Error(message))
    }
  })
})

test('UTF-8 with a byte order mark is not read as Latin-1', async () => {
  await expect(linesIn(Buffer.from('\ufeffMüller'), 9, 'latin1')).rejects.toThrow(
    'the file has the byte order mark of UTF-8, so it is not Latin-1; read it as UTF-8',
  )
})
