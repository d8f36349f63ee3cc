import { existsSync } from 'node:fs'
import { randomFrom, type TortureTask, untilOver } from '../../../scripts/torture-task.ts'
import { canMount } from '../disk/full-disk.ts'
import { MAX_LOSS_MS, runFullFolderRound, runRound, SLOW_FLUSHES } from './backup-rounds.ts'

const LEAST_ROUNDS = 200
const SLOW_EVERY = 10
const FULL_EVERY = 10
const FULL_MS = 60_000
const MS = 1_500

export const backupTask: TortureTask = {
  name: 'backup',
  promise: `The loss of the database costs at most ${MAX_LOSS_MS} ms, and every moment can be restored.`,
  share: 3,
  run: async (options) => {
    const random = randomFrom(options.seed)
    const isOver = untilOver(options, LEAST_ROUNDS)
    const canDelay = existsSync('/usr/bin/strace')
    const canFill = canMount()
    const violations: string[] = []
    const losses: number[] = []
    let updates = 0
    let slow = 0
    let full = 0
    for (let round = 1; !isOver(round - 1); round++) {
      const isSlow = canDelay && round % SLOW_EVERY === 0
      const isFull = canFill && round % FULL_EVERY === FULL_EVERY / 2
      const isKilledFirst = random() < 0.5
      const through = isSlow ? SLOW_FLUSHES : []
      const result = isFull
        ? await runFullFolderRound(options.isFull ? FULL_MS : MS)
        : await runRound({ isKilledFirst, ms: MS * (0.5 + random()), through, random })
      if (isSlow) slow++
      if (isFull) full++
      updates += result.updates
      losses.push(result.lossMs)
      violations.push(...result.violations.map((violation) => `round ${round}: ${violation}`))
      if (round % SLOW_EVERY === 0) options.say(`${round} rounds, ${describeLosses(losses)}`)
    }
    return {
      figures: [
        ['rounds', String(losses.length)],
        ['with a slow folder', String(slow)],
        ['with a full folder', String(full)],
        ['updates', String(updates)],
        ['age of the oldest lost update', describeLosses(losses)],
      ],
      violations,
    }
  },
}

function describeLosses(losses: readonly number[]): string {
  const sorted = losses.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `median ${at(0.5)} ms, 90 % ${at(0.9)} ms, 99 % ${at(0.99)} ms, at most ${at(1)} ms`
}
