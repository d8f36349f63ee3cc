import { EventReader } from '../support/event-reader.ts'
import type { PostgresPair } from '../support/postgres-pair.ts'
import type { Outage, OutageScene } from './outages.ts'
import { addKey } from './shop.ts'

export const READ_ONLY = 'read-only'
const ROOMY = 1_000_000_000
/** Between two updates with the key whose day limit is low. */
const PAUSE_MS = 20
/** A failover has room for this many of them, including the time between. */
const UPDATES_A_ROUND = 100

/**
 * The primary is killed, the standby promoted, and the proxy switched to it; every second time before the
 * promotion, so that the instances find it read-only.
 */
export function failOversOf(pair: PostgresPair, times: number): Outage {
  const perDay = UPDATES_A_ROUND * (times + 1)
  return {
    url: pair.url,
    crash: async (round) => {
      pair.killPrimary()
      if (isMetReadOnly(round)) pair.proxy.switchTo(pair.standby.port)
    },
    unreadyReason: (round) => (isMetReadOnly(round) ? READ_ONLY : ''),
    comeBack: async () => {
      await pair.promote()
      pair.proxy.switchTo(pair.primary.port)
    },
    settle: () => pair.addStandby(),
    watch: async (scene) => {
      const key = await addKey(pair.url, { perMinute: ROOMY, perDay })
      const events = await watchEvents(scene, key)
      const limit = watchLimit(scene, key, perDay)
      return async () => [...(await limit), ...events()]
    },
  }
}

/** Whether the instances are sent to the standby before it is promoted. */
export function isMetReadOnly(round: number): boolean {
  return round % 2 === 0
}

/**
 * Uses up the day of a key. All updates that were made are counted: the count comes before the commit, which
 * the standby has. Updates refused with 503 may be counted or not, and nothing is counted twice.
 */
async function watchLimit({ instances, update, isOver }: OutageScene, key: string, perDay: number) {
  const counts = { made: 0, unsure: 0, other: 0 }
  let turn = 0
  for (;;) {
    const { address } = instances[++turn % instances.length] ?? { address: '' }
    const status = await update(address, key)
    if (status === 429) break
    if (status === 200) counts.made++
    else if (status === 503) counts.unsure++
    else counts.other++
    if (!isOver()) await Bun.sleep(PAUSE_MS)
  }
  const { made, unsure, other } = counts
  const told = `of a day of ${perDay}, ${made} updates were made and ${unsure} refused with 503 until the limit was reached`
  const isExact = made <= perDay && perDay <= made + unsure && other === 0
  return isExact ? [] : [`${told}, and ${other} answered otherwise`]
}

/** The standby has everything, so a stream continues after each failover without a relist. */
async function watchEvents({ instances }: OutageScene, key: string) {
  const { address } = instances[0] ?? { address: '' }
  const reader = await EventReader.open(`${address}/v1/inventory/events`, key)
  return () => {
    const relists = reader.events.filter(({ name }) => name === 'relist').length
    const { ended } = reader
    reader.close()
    return relists === 0 && ended === undefined
      ? []
      : [`${relists} times relist, the stream is ${ended ?? 'open'}`]
  }
}
