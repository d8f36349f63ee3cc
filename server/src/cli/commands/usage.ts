import type { Command } from 'commander'
import type { KeyRecord } from '../../core/keys/key-store.ts'
import { type BanRecord, type DailyUsage, dayOf, type LimitState } from '../../core/limits/limit-store.ts'
import { newLimitState, updateWindow } from '../../core/limits/rate-windows.ts'
import { DAY, MINUTE } from '../../core/values/clock.ts'
import { json, table } from '../output.ts'
import { type SettingFlags, setting, withStore } from '../with-store.ts'
import { stateOf } from './keys-shown.ts'

const DAYS = 30
const BAR_WIDTH = 10
const SPARKS = '▁▂▃▄▅▆▇█'

export function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description('Show what each key uses of its two windows, and its requests and bans over 30 days.')
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(showUsage)
}

async function showUsage(flags: SettingFlags & { readonly json?: true }): Promise<void> {
  const report = await withStore(flags, 'expect', async (store) => {
    const now = store.clock()
    const since = now - (DAYS - 1) * DAY
    const [records, states, daily, bans] = [
      await store.listKeys(),
      await store.loadLimits(),
      await store.listUsage(dayOf(since)),
      await store.listBans(since),
    ]
    return records.map((record) =>
      usageOf(record, states.get(record.key.id) ?? newLimitState(), daily, bans, now),
    )
  })
  if (flags.json === true) console.log(json(report))
  else if (report.length === 0) console.log('There are no keys yet. Make one: petstore keys create --help')
  else console.log(drawn(report))
}

type Usage = ReturnType<typeof usageOf>

function usageOf(
  { key }: KeyRecord,
  state: LimitState,
  daily: readonly DailyUsage[],
  bans: readonly BanRecord[],
  now: number,
) {
  const today = dayOf(now)
  const own = daily.filter(({ keyId }) => keyId === key.id)
  const ownBans = bans.filter(({ keyId }) => keyId === key.id)
  const days = Array.from({ length: DAYS }, (_, index) => {
    const day = dayOf(now - (DAYS - 1 - index) * DAY)
    const found = own.find((usage) => usage.day === day)
    return { day, accepted: found?.accepted ?? 0, rejected: found?.rejected ?? 0 }
  })
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    state: stateOf(key, bans, now),
    minute: { used: updateWindow(state.minute, MINUTE, now).used, limit: key.limits.perMinute },
    day: { used: updateWindow(state.day, DAY, now).used, limit: key.limits.perDay },
    bansToday: ownBans.filter(({ beganAt }) => dayOf(beganAt) === today).length,
    bans30Days: ownBans.length,
    days,
  }
}

function drawn(report: readonly Usage[]): string {
  return table(
    [
      ...['NAME', 'PLAN', 'THIS MINUTE', 'THIS DAY', 'TODAY', 'REFUSED'],
      ...['30 DAYS', '', 'REFUSED', 'BANS', 'STATE'],
    ],
    report.map(({ name, plan, state, minute, day, days, bansToday, bans30Days }) => {
      const total = (field: 'accepted' | 'rejected') => days.reduce((sum, one) => sum + one[field], 0)
      const today = days.at(-1)
      return [
        ...[name, plan, bar(minute), bar(day), today?.accepted ?? 0, today?.rejected ?? 0],
        ...[total('accepted'), sparkline(days), total('rejected'), `${bansToday} / ${bans30Days}`, state],
      ]
    }),
  )
}

function bar({ used, limit }: { used: number; limit: number }): string {
  const filled = Math.min(BAR_WIDTH, Math.ceil((used / limit) * BAR_WIDTH))
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${used}/${limit}`
}

function sparkline(days: Usage['days']): string {
  const max = Math.max(1, ...days.map(({ accepted }) => accepted))
  return days
    .map(({ accepted }) => (accepted === 0 ? ' ' : SPARKS[Math.ceil((accepted / max) * SPARKS.length) - 1]))
    .join('')
}
