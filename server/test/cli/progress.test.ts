import { describe, expect, test } from 'bun:test'
import { formatDuration, Progress } from '../../src/cli/terminal.ts'

function shownOn(output: { isTTY?: boolean; columns?: number }) {
  let now = 0
  const written: string[] = []
  const progress = new Progress('rows', { ...output, write: (text: string) => written.push(text) }, () => now)
  return {
    written,
    progress,
    at: (milliseconds: number) => {
      now = milliseconds
      return progress
    },
  }
}

describe('Progress', () => {
  test('is a bar on a terminal, redrawn at most ten times a second, and removed at the end', () => {
    const { written, progress, at } = shownOn({ isTTY: true, columns: 100 })
    at(0).show('reading', 0, 0)
    at(50).show('reading', 10_000, 0.05)
    at(1_000).show('reading', 250_000, 0.25)
    at(1_001).show('writing', 0, 0)
    progress.end()
    progress.end()
    expect(written).toEqual([
      `\r\x1b[Kreading   ${'░'.repeat(24)} 0%, 0 rows`,
      `\r\x1b[Kreading   ${'█'.repeat(6)}${'░'.repeat(18)} 25%, 250,000 rows, 250,000 rows/s, 3 s left`,
      `\r\x1b[Kwriting   ${'░'.repeat(24)} 0%, 0 rows`,
      '\r\x1b[K',
    ])
  })

  test('fits the terminal', () => {
    const { written, at } = shownOn({ isTTY: true, columns: 30 })
    at(200).show('reading', 1_000_000, 0.5)
    expect(Bun.stringWidth(written[0] ?? '')).toBeLessThan(30)
  })

  test('is a plain line every few seconds without a terminal, and nothing for quick work', () => {
    const { written, progress, at } = shownOn({})
    at(100).show('reading', 10, 0.1)
    at(2_900).show('writing', 10, 0.1)
    expect(written).toEqual([])
    at(3_100).show('writing', 50, 0.5)
    at(3_200).show('writing', 60, 0.6)
    progress.end()
    expect(written).toEqual(['writing: 50%, 50 rows, 250 rows/s\n'])
  })

  test('shows neither percentage nor end for a pipe', () => {
    const { written, at } = shownOn({ isTTY: true, columns: 100 })
    at(0).show('reading', 0)
    at(2_000).show('reading', 1_000)
    expect(written.at(-1)).toBe('\r\x1b[Kreading   1,000 rows, 500 rows/s')
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
