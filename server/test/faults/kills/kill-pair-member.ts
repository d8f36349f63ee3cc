import type { TestDatabase } from '../../support/postgres-databases.ts'
import { startNamed, untilDisconnected } from './kills-postgres.ts'

/** Callers that continue until they are stopped. */
interface PairLoad {
  run(addresses: readonly string[], isOver: () => boolean): Promise<unknown>
  untilAnswered(count: number): Promise<void>
}

interface PairKills {
  readonly load: PairLoad
  readonly random: () => number
  readonly maxAnswers: number
  readonly isOver: (kills: number) => boolean
  /** Called while the callers are idle and all work of the killed instance has ended. */
  readonly afterKill: (kills: number, address: string) => Promise<void>
}

/**
 * Kills one of two instances on PostgreSQL under load, while the other continues; returns the number of kills.
 * Drops the database.
 */
export async function killPairMember(
  database: TestDatabase,
  { load, random, maxAnswers, isOver, afterKill }: PairKills,
): Promise<number> {
  let kills = 0
  let started = 0
  const start = () => startNamed(database.url, `instance-${++started}`)
  const pair = await Promise.all([start(), start()])
  try {
    while (!isOver(kills)) {
      let isRoundOver = false
      const loading = load.run(
        pair.map(({ address }) => address),
        () => isRoundOver,
      )
      await load.untilAnswered(1 + random() * maxAnswers)
      const victim = random() < 0.5 ? 0 : 1
      const { program, name } = pair[victim]
      program.kill('SIGKILL')
      await program.exited
      kills++
      pair[victim] = await start()
      isRoundOver = true
      await loading
      await untilDisconnected(database, name)
      await afterKill(kills, pair[victim].address)
    }
  } finally {
    for (const { program } of pair) program.kill('SIGKILL')
    await database.drop()
  }
  return kills
}
