import { describe, expect, test } from 'bun:test'
import { contradictions, type Operation } from './register-check.ts'

const initial = new Map([[1, 0]])
const write = (value: number, began: number, ended: number, isUnsure = false): Operation => ({
  kind: 'write',
  petId: 1,
  value,
  began,
  ended,
  isUnsure,
})
const read = (value: number, began: number, ended: number): Operation => ({
  kind: 'read',
  petId: 1,
  value,
  began,
  ended,
})

describe('the check of recorded operations', () => {
  test.each([
    ['one after the other', [read(0, 1, 2), write(7, 3, 4), read(7, 5, 6), write(8, 7, 8), read(8, 9, 10)]],
    ['a read during a write sees either', [write(7, 3, 10), read(0, 4, 5), read(7, 6, 7)]],
    ['two concurrent writes, in any order', [write(7, 1, 9), write(8, 2, 8), read(8, 10, 11)]],
    ['a write that nobody saw, between two others', [write(7, 1, 5), write(8, 2, 6), read(7, 7, 8)]],
    ['an unanswered write that happened', [write(7, 1, 2, true), read(0, 3, 4), read(7, 5, 6)]],
    ['an unanswered write that did not happen', [write(7, 1, 2, true), read(0, 3, 4), read(0, 5, 6)]],
  ])('accepts %s', (_, operations) => {
    expect(contradictions(operations, initial)).toEqual([])
  })

  test.each([
    ['a stale read', [write(7, 1, 2), read(0, 3, 4)]],
    ['a read that goes back', [write(7, 1, 10), read(7, 2, 3), read(0, 4, 5)]],
    ['a value that was never written', [read(9, 1, 2)]],
    ['a value before its write', [read(7, 1, 2), write(7, 3, 4)]],
    ['a lost update', [write(7, 1, 2), write(8, 3, 4), read(7, 5, 6)]],
    ['an update that was lost immediately', [write(7, 1, 2), read(0, 3, 4), read(0, 5, 6)]],
    ['an unanswered write that comes and goes', [write(7, 1, 2, true), read(7, 3, 4), read(0, 5, 6)]],
  ])('finds %s', (_, operations) => {
    expect(contradictions(operations, initial)).not.toEqual([])
  })
})
