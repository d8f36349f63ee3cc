import type { KeyRecord } from '../../core/keys/key-store.ts'
import { type BanRecord, type DailyUsage, dayOf, type LimitState } from '../../core/limits/limit-store.ts'
import { newLimitState, updateWindow } from '../../core/limits/rate-windows.ts'
import { DAY, MINUTE } from '../../core/values/clock.ts'
import type { JsonFlags, PetstoreCommand } from '../arguments.ts'
import { printList } from '../terminal.ts'
import type { OpenedStore } from '../with-store.ts'
import { describeKeyState, NO_KEYS_MESSAGE } from './keys.ts'

const DAY_COUNT = 30
const BAR_WIDTH = 10
const SPARK_LEVELS = '▁▂▃▄▅▆▇█'

export function addUsageCommand(program: PetstoreCommand): void {
  program
    .command('usage')
    .description(
      'Show for each key how much of its minute limit and its day limit is used, and its requests and bans in the last 30 days (UTC).',
    )
    .jsonOption()
    .storeAction(showUsage)
}

async function showUsage({ store }: OpenedStore, flags: JsonFlags): Promise<void> {
  const now = store.clock()
  const firstDay = dayOf(now - (DAY_COUNT - 1) * DAY)
  const records = await store.listKeys()
  const limitStates = await store.loadLimits()
  const dailyUsage = await store.listUsage(firstDay)
  const bans = await store.listBans(Date.parse(firstDay))
  const report = records.map((record) =>
    toUsage(record, limitStates.get(record.key.id) ?? newLimitState(), dailyUsage, bans, now),
  )
  const total = (days: Usage['days'], field: 'accepted' | 'rejected') =>
    days.reduce((sum, day) => sum + day[field], 0)
  printList(report, flags, {
    columns: [
      ['NAME', ({ name }) => name],
      ['PLAN', ({ plan }) => plan],
      ['MINUTE LIMIT', ({ minute }) => drawBar(minute)],
      ['DAY LIMIT', ({ day }) => drawBar(day)],
      ['TODAY', ({ days }) => days.at(-1)?.accepted ?? 0],
      ['REFUSED', ({ days }) => days.at(-1)?.rejected ?? 0],
      ['30 DAYS', ({ days }) => total(days, 'accepted')],
      ['', ({ days }) => drawSparkline(days)],
      ['REFUSED', ({ days }) => total(days, 'rejected')],
      ['BANS', ({ bansToday, bans30Days }) => `${bansToday} / ${bans30Days}`],
      ['STATE', ({ state }) => state],
    ],
    toJson: (usage) => usage,
    emptyMessage: NO_KEYS_MESSAGE,
  })
}

type Usage = ReturnType<typeof toUsage>

function toUsage(
  { key }: KeyRecord,
  limitState: LimitState,
  dailyUsage: readonly DailyUsage[],
  bans: readonly BanRecord[],
  now: number,
) {
  const today = dayOf(now)
  const keyUsage = dailyUsage.filter(({ keyId }) => keyId === key.id)
  const keyBans = bans.filter(({ keyId }) => keyId === key.id)
  const days = Array.from({ length: DAY_COUNT }, (_, index) => {
    const day = dayOf(now - (DAY_COUNT - 1 - index) * DAY)
    const usage = keyUsage.find((candidate) => candidate.day === day)
    return { day, accepted: usage?.accepted ?? 0, rejected: usage?.rejected ?? 0 }
  })
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    state: describeKeyState(key, bans, now),
    minute: { used: updateWindow(limitState.minute, MINUTE, now).used, limit: key.limits.perMinute },
    day: { used: updateWindow(limitState.day, DAY, now).used, limit: key.limits.perDay },
    bansToday: keyBans.filter(({ beganAt }) => dayOf(beganAt) === today).length,
    bans30Days: keyBans.length,
    days,
  }
}

function drawBar({ used, limit }: Usage['minute']): string {
  const filled = Math.min(BAR_WIDTH, Math.ceil((used / limit) * BAR_WIDTH))
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${used}/${limit}`
}

function drawSparkline(days: Usage['days']): string {
  const max = Math.max(1, ...days.map(({ accepted }) => accepted))
  return days
    .map(({ accepted }) =>
      accepted === 0 ? ' ' : SPARK_LEVELS[Math.ceil((accepted / max) * SPARK_LEVELS.length) - 1],
    )
    .join('')
}
