import { expect, test } from 'bun:test'
import { contradictions, type LogRow, type Operation } from './load-check.ts'

const chain = (...quantities: readonly number[]): LogRow[] =>
  quantities.map((after, index) => ({ before: quantities[index - 1] ?? 0, after }))
const write = (quantity: number, began: number, ended: number, more: object = {}): Operation => ({
  type: 'write',
  pets: [{ petId: 1, quantity, ...more }],
  began,
  ended,
})
const unsure = (quantity: number, began: number, ended: number) => ({
  ...write(quantity, began, ended),
  isUnsure: true,
})
const read = (quantity: number, began: number, ended: number): Operation => ({
  ...write(quantity, began, ended),
  type: 'read',
})
const both = (quantity: number, began: number, ended: number): Operation => ({
  type: 'write',
  pets: [1, 2].map((petId) => ({ petId, quantity })),
  began,
  ended,
})
const list = (first: number, second: number, began = 0, ended = 99): Operation => ({
  type: 'read',
  pets: [
    { petId: 1, quantity: first },
    { petId: 2, quantity: second },
  ],
  began,
  ended,
})
const second = (quantity: number, began: number, ended: number): Operation => ({
  ...write(quantity, began, ended),
  pets: [{ petId: 2, quantity }],
})

type Case = readonly [title: string, logs: readonly [LogRow[], LogRow[]], operations: readonly Operation[]]

const RIGHT: readonly Case[] = [
  ['nothing', [[], []], [list(0, 0)]],
  [
    'one after the other',
    [chain(7, 8), []],
    [read(0, 1, 2), write(7, 3, 4), read(7, 5, 6), write(8, 7, 8, { before: 7 }), read(8, 9, 10)],
  ],
  ['a read during a write sees either', [chain(7), []], [write(7, 3, 10), read(0, 4, 5), read(7, 6, 7)]],
  ['concurrent writes in any order', [chain(8, 7), []], [write(7, 1, 9), write(8, 2, 8), read(7, 10, 11)]],
  ['an unanswered write that was made', [chain(7), []], [unsure(7, 1, 2), read(0, 3, 4), read(7, 5, 6)]],
  ['an unanswered write that was not made', [[], []], [unsure(7, 1, 2), read(0, 5, 6)]],
  [
    'adjustments of both, with a write between them',
    [chain(3, 5, 4), chain(3, 4)],
    [both(3, 1, 2), write(5, 3, 4), both(4, 5, 6), list(0, 0), list(3, 3), list(5, 3), list(4, 4)],
  ],
]

const WRONG: readonly Case[] = [
  ['a stale read', [chain(7), []], [write(7, 1, 2), read(0, 3, 4)]],
  ['a read that goes back', [chain(7), []], [write(7, 1, 10), read(7, 2, 3), read(0, 4, 5)]],
  ['a value that was never written', [[], []], [read(9, 1, 2)]],
  ['a value before its write', [chain(7), []], [read(7, 1, 2), write(7, 3, 4)]],
  ['a write that is not in the log', [[], []], [write(7, 1, 2)]],
  ['a row without a request', [chain(3), []], []],
  ['a gap', [[...chain(2), { before: 3, after: 4 }], []], [write(2, 1, 2), write(4, 3, 4)]],
  ['a write that was made twice', [chain(3, 4, 3), []], [write(3, 1, 9), write(4, 2, 8)]],
  [
    'a change of another quantity than was answered',
    [chain(3, 4, 8), []],
    [write(3, 1, 2), write(4, 1, 9), write(8, 3, 4, { before: 3 })],
  ],
  ['another order than that of the responses', [chain(4, 3), []], [write(3, 1, 2), write(4, 3, 4)]],
  ['half of an adjustment in the log', [chain(3), []], [both(3, 1, 2)]],
  ['a list with half of an adjustment', [chain(3), chain(3)], [both(3, 1, 2), list(3, 0)]],
  ['adjustments in different orders', [chain(3, 4), chain(4, 3)], [both(3, 1, 9), both(4, 2, 8)]],
  [
    'lists that contradict each other',
    [chain(3), chain(4)],
    [write(3, 1, 9), second(4, 2, 8), list(3, 0), list(0, 4)],
  ],
  ['a list that never stood', [chain(3), chain(4)], [write(3, 1, 2), second(4, 3, 4), list(0, 4)]],
]

test.each([...RIGHT])('the check of a load accepts %s', (_, logs, operations) => {
  expect(found(logs, operations)).toEqual([])
})

test.each([...WRONG])('the check of a load finds %s', (_, logs, operations) => {
  expect(found(logs, operations)).not.toEqual([])
})

function found(logs: Case[1], operations: Case[2]): string[] {
  return contradictions(operations, new Map(logs.map((rows, index) => [index + 1, rows])))
}
