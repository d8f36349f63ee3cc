import { describe, expect, test } from 'bun:test'

describe('each test', () => {
  const numbers = new Set<number>()
  test.each(['first', 'second'])('begins with the same random numbers: the %s', () => {
    numbers.add(Math.random())
    expect(numbers.size).toBe(1)
  })
})
