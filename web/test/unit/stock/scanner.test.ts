import { expect, test } from 'bun:test'
import { ScanReader } from '../../../src/staff-page/ui/scanner.ts'

interface Typing {
  /** Milliseconds from one key to the next. */
  readonly gap: number
  readonly modifiers?: { readonly ctrlKey?: boolean; readonly altKey?: boolean; readonly repeat?: boolean }
}

/** Types keys one after the other from `start` on, and gives each answer that was not `undefined`. */
function typing(reader: ScanReader, start: number, keys: readonly string[], { gap, modifiers }: Typing) {
  const plain = { ctrlKey: false, metaKey: false, altKey: false, repeat: false, ...modifiers }
  return keys.flatMap((key, index) => reader.take({ key, timeStamp: start + index * gap, ...plain }) ?? [])
}

const CODE = '4006381333931'
const scanOf = (code: string) => [...code, 'Enter']

test.each([1, 16, 40, 50])('a code with a key every %d ms and Enter behind it is a scan', (gap) => {
  expect(typing(new ScanReader(), 1_000, scanOf(CODE), { gap })).toEqual([CODE])
})

test.each([
  ['too slow', scanOf(CODE), { gap: 60 }],
  ['without Enter', [...CODE], { gap: 5 }],
  ['too short', scanOf('12345'), { gap: 5 }],
  ['held down', [...'7777777', 'Enter'], { gap: 30, modifiers: { repeat: true } }],
  ['shortcuts', scanOf(CODE), { gap: 5, modifiers: { ctrlKey: true } }],
  ['another key amid it', [...'123456', 'ArrowDown', 'Enter'], { gap: 5 }],
  ['a blank amid it', scanOf('12345 6789'), { gap: 5 }],
  ['a word', scanOf('budgerigar'), { gap: 5 }],
  ['Enter alone', ['Enter', 'Enter'], { gap: 5 }],
] as const)('%s is no scan', (_, keys, how) => {
  expect(typing(new ScanReader(), 0, keys, how)).toEqual([])
})

test('capital letters and signs are part of it, the Shift before them is not', () => {
  const keys = ['Shift', 'A', 'Shift', 'B', '-', '1', '2', '/', '3', 'Enter']
  expect(typing(new ScanReader(), 0, keys, { gap: 8 })).toEqual(['AB-12/3'])
})

test('what hands typed before is no part of it, and Enter that comes late is theirs', () => {
  const reader = new ScanReader()
  expect(typing(reader, 0, ['1', '2'], { gap: 180 })).toEqual([])
  expect(reader.run).toBe('2')
  expect(typing(reader, 600, [...CODE], { gap: 8 })).toEqual([])
  expect(reader.run).toBe(CODE)
  expect(typing(reader, 2_000, ['Enter'], { gap: 0 })).toEqual([])
  expect(typing(reader, 3_000, scanOf(CODE), { gap: 8 })).toEqual([CODE])
  expect(typing(reader, 3_100 + 14 * 8, scanOf('87654321'), { gap: 8 })).toEqual(['87654321'])
})

/** Types keys, each so long after the one before it. */
function typingAt(keys: readonly string[], gaps: readonly number[]) {
  const reader = new ScanReader()
  let timeStamp = 1_000
  const plain = { ctrlKey: false, metaKey: false, altKey: false, repeat: false }
  return keys.flatMap((key, index) => {
    timeStamp += gaps[index] ?? 0
    return reader.take({ key, timeStamp, ...plain }) ?? []
  })
}

const gapsWith = (usual: number, late: Readonly<Record<number, number>>) =>
  Array.from(scanOf(CODE), (_, index) => late[index] ?? usual)

test.each([1, 6, 12])('one that a busy machine held up before character %d is whole', (index) => {
  expect(typingAt(scanOf(CODE), gapsWith(12, { [index]: 140 }))).toEqual([CODE])
})

test.each([2, 7, 12])('one that a wireless scanner paused before character %d is whole', (index) => {
  expect(typingAt(scanOf(CODE), gapsWith(12, { [index]: 200 }))).toEqual([CODE])
})

test.each([
  ['one of them much too late', scanOf(CODE), gapsWith(12, { 8: 600 })],
  ['two of them late', scanOf(CODE), gapsWith(12, { 3: 60, 9: 60 })],
  ['one late and the others not quick enough for that', scanOf('123456'), [0, 140, 45, 45, 45, 45, 45]],
  ['some digits rolled off, then Enter', scanOf('123456'), [0, 25, 25, 25, 25, 25, 90]],
] as const)('%s is no scan', (_, keys, gaps) => {
  expect(typingAt(keys, gaps)).toEqual([])
})
