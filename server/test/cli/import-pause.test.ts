import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyWithPauseLimit, watchPause } from '../../src/cli/import-pause.ts'
import { Progress } from '../../src/cli/progress.ts'
import { ROWS_PER_STEP } from '../../src/store/import-tables.ts'
import { newWritePause, secondsUntilImportEnds } from '../../src/store/sqlite/database-files.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { FaultyShop } from '../faults/disk/faulty-shop.ts'
import { lockedFile } from '../faults/disk/spoilt-file.ts'
import { petstoreInTerminal } from './petstore.ts'
import { runCommand } from './run-command.ts'

setDefaultTimeout(120_000)

/** An import of this many pets has a second step, so its duration is estimated after the first. */
const PETS = ROWS_PER_STEP + 1

let folder: string
let path: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-pause-'))
  path = join(folder, 'petstore.db')
  await openSqliteStore(path).close()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function petsFile(quantity = 5): string {
  const lines = Array.from({ length: PETS }, (_, index) => `${index + 1},Pet,1,available,${quantity}`)
  const file = join(folder, 'pets.csv')
  writeFileSync(file, `petId,name,categoryId,status,quantity\n${lines.join('\n')}\n`)
  return file
}

/** Runs `work` while this process serves the database. */
async function whileServed<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = openSqliteStore(path, { exclusive: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

async function quantitiesIn(store: Store): Promise<Set<number>> {
  const found = new Set<number>()
  await store.loadStock((items) => {
    for (const { quantity } of items) found.add(quantity)
  })
  return found
}

describe('an import that would block a running service for longer than --max-pause', () => {
  const args = () => ['import', 'pets', petsFile(), '--max-pause', '0', '--database-url', `sqlite:${path}`]

  test('is refused without a terminal, changes nothing, and runs with --yes', async () => {
    await whileServed(async (store) => {
      const refused = await runCommand(args())
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toMatch(
        /writing 20,001 rows keeps the running service from writing for about \d+ (s|min \d+ s); nothing was changed\. Accept the pause with --yes/,
      )
      expect(await store.countPets()).toBe(0)
      expect(secondsUntilImportEnds(path)).toBeUndefined()

      const accepted = await runCommand([...args(), '--yes'])
      expect([accepted.exitCode, accepted.stdout]).toEqual([0, expect.stringContaining('20,001 pets added')])
      expect(accepted.stderr).toContain('keeps the running service from writing for about')
      expect(await store.countPets()).toBe(PETS)
      expect(secondsUntilImportEnds(path)).toBeUndefined()
    })
  })

  test('asks in a terminal, and Ctrl-C changes nothing', async () => {
    await whileServed(async (store) => {
      const { shown, exitCode } = await petstoreInTerminal(args(), 'Write now?', (program) =>
        program.type('\x03'),
      )
      expect(exitCode).toBe(130)
      expect(shown).toContain('20,001 rows keeps the running service from writing for about')
      expect(shown).toContain('nothing was changed')
      expect(await store.countPets()).toBe(0)
    })
  })

  test('so does a count, which changes nothing before it is confirmed', async () => {
    // Without a service there is no question.
    expect((await runCommand(args())).exitCode).toBe(0)
    const lines = Array.from({ length: PETS }, (_, index) => `${index + 1},6`)
    const file = join(folder, 'count.csv')
    writeFileSync(file, `petId,quantity\n${lines.join('\n')}\n`)
    const count = ['import', 'count', file, '--max-pause', '0', '--database-url', `sqlite:${path}`]
    await whileServed(async (store) => {
      expect(await runCommand(count)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('nothing was changed. Accept the pause with --yes'),
      })
      expect(await quantitiesIn(store)).toEqual(new Set([5]))
      expect((await runCommand([...count, '--yes'])).exitCode).toBe(0)
      expect(await quantitiesIn(store)).toEqual(new Set([6]))
    })
  })
})

test('an import announces the remaining time after each step, and removes the announcement at the end', async () => {
  await whileServed(async (store) => {
    const staged = await store.stagePets()
    const seen: [number, number | undefined][] = []
    await staged.add(
      Array.from({ length: PETS }, (_, index) => ({
        line: index + 1,
        value: { id: BigInt(index + 1), name: 'Pet', categoryId: 1n, status: 'available', quantity: 1 },
      })),
    )
    await staged.finishStaging(1)
    await applyWithPauseLimit(
      store.writePause,
      { maxPause: 5, yes: true },
      { progress: new Progress('rows'), signal: new AbortController().signal },
      (onProgress) =>
        staged.apply({
          at: 0,
          keyId: 'test',
          onProgress: (done, total) => {
            onProgress(done, total)
            seen.push([done, secondsUntilImportEnds(path)])
          },
        }),
    )
    await staged.discard()
    expect(seen).toEqual([
      [0, undefined],
      [ROWS_PER_STEP, expect.any(Number)],
      [PETS, expect.any(Number)],
    ])
    expect(secondsUntilImportEnds(path)).toBeUndefined()
  })
})

describe('the estimate', () => {
  /** 100 rows of 1,000 take 2 s: the steps take 20 s, and everything under the lock 28 s. */
  function estimate(maxSeconds: number, isServiceRunning = true) {
    const announced: number[] = []
    let seconds = 10
    const pause = {
      isServiceRunning: () => isServiceRunning,
      announce: (left: number) => announced.push(left),
      withdraw: () => {},
    }
    const refuse = (message: string) => {
      throw new Error(message)
    }
    const watch = watchPause(pause, maxSeconds, refuse, () => seconds * 1_000)
    seconds = 50
    watch(0, 1_000)
    seconds += 2
    watch(100, 1_000)
    seconds += 8
    watch(1_000, 1_000)
    return announced
  }

  test('follows from the first step, and later from all of them', () => {
    expect(estimate(28)).toEqual([26, 4])
  })

  test('aborts a write that would exceed --max-pause, if a service runs', () => {
    expect(() => estimate(27)).toThrow(
      'writing 1,000 rows keeps the running service from writing for about 28 s',
    )
    expect(estimate(27, false)).toEqual([26, 4])
  })
})

describe('a service that cannot write', () => {
  test('reports the announced duration of the import, in its message and in Retry-After', async () => {
    const shop = await FaultyShop.open()
    const importing = lockedFile(shop.path)
    try {
      newWritePause(shop.path).announce(3_000)
      const answer = await shop.update()
      const seconds = Number(answer.retryAfter)
      expect(answer.status).toBe(503)
      expect(seconds).toBeGreaterThan(2_000)
      expect(seconds).toBeLessThanOrEqual(3_000)
      expect(answer.body).toMatchObject({
        code: 'service_unavailable',
        message: `an import is running and needs about ${seconds} s more; until then only reads work`,
      })
    } finally {
      importing.close()
      await shop.close()
    }
  })

  test('ignores the announcement of an import that was killed long ago', () => {
    newWritePause(path).announce(-50)
    expect(secondsUntilImportEnds(path)).toBe(1)
    newWritePause(path).announce(-3_600)
    expect(secondsUntilImportEnds(path)).toBeUndefined()
  })
})
