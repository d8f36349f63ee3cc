import { describe, expect, test } from 'bun:test'
import { stopAfterTest } from './support/stop-after-test.ts'

describe('each test', () => {
  const numbers = new Set<number>()
  test.each(['first', 'second'])('begins with the same random numbers: the %s', () => {
    numbers.add(Math.random())
    expect(numbers.size).toBe(1)
  })

  let running = 0
  test.each(['first', 'second'])('stops what it has started: the %s', () => {
    expect(running).toBe(0)
    running++
    stopAfterTest(() => {
      running--
    })
  })
})
