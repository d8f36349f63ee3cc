import { describe, expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { Progress } from '../../src/cli/progress.ts'
import { formatDuration } from '../../src/cli/terminal.ts'

function progressOn(terminal: { readonly isTTY?: boolean; readonly columns?: number }) {
  let written = ''
  const write = (chunk: Buffer, _: string, done: () => void) => {
    written += chunk
    done()
  }
  const stream = Object.assign(new Writable({ write }), terminal)
  return { progress: new Progress('rows', stream), shown: () => written }
}

describe('Progress', () => {
  test('has a bar for each phase on a terminal, and is removed at the end', () => {
    const { progress, shown } = progressOn({ isTTY: true, columns: 100 })
    progress.show('reading', 250_000, 0.25)
    expect(shown()).toContain(`reading   ${'█'.repeat(6)}${'░'.repeat(18)} 25%, 250,000 rows, ? left`)
    progress.show('writing', 0, 0)
    expect(shown()).toContain(`writing   ${'░'.repeat(24)} 0%, 0 rows`)
    progress.end()
    const atEnd = shown()
    expect(atEnd).toEndWith('\x1b[2K')
    progress.end()
    expect(shown()).toBe(atEnd)
  })

  test('fits the terminal', () => {
    const { progress, shown } = progressOn({ isTTY: true, columns: 30 })
    progress.show('reading', 1_000_000, 0.5)
    expect(shown()).toContain(`reading   ${'█'.repeat(12)}${'░'.repeat(8)}\x1b`)
    progress.end()
  })

  test('shows nothing without a terminal', () => {
    const { progress, shown } = progressOn({})
    progress.show('reading', 10, 0.1)
    progress.show('writing', 10, 0.1)
    progress.end()
    expect(shown()).toBe('')
  })

  test('shows neither percentage nor end for a pipe', () => {
    const { progress, shown } = progressOn({ isTTY: true, columns: 100 })
    progress.show('reading', 1_000)
    expect(shown()).toContain('reading   1,000 rows\x1b')
    progress.end()
  })

  test.each([
    [0.2, '1 s'],
    [59.5, '1 min 0 s'],
    [200, '3 min 20 s'],
    [7_500, '2 h 5 min'],
  ])('%d seconds are %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words)
  })
})
