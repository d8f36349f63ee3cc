import type { Config } from './config.ts'
import { AddressWindows } from './core/address-windows.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { LimitLedger } from './core/limit-ledger.ts'
import type { Store } from './core/store.ts'
import { createApp } from './http/app.ts'
import { buildContract } from './http/contract.ts'
import { listen } from './http/server.ts'
import { openSqliteStore } from './store/sqlite/store.ts'

/** A killed process forgets at most this much of what was counted against limits, and nothing else. */
const SAVE_LIMITS_EVERY_MS = 50
/** So that a ban that an operator lifts ends within a second. */
const HEED_LIFTED_BANS_EVERY_MS = 500

export interface RunningService {
  readonly port: number
  /** Answers what is under way, saves, and closes the store. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  readonly clock?: Clock
  readonly demoSecrets?: ReadonlySet<string>
  readonly reportFailure?: (failure: { requestId: string; error: unknown }) => void
}

export function openStore(databaseUrl: string): Store {
  const path = databaseUrl.slice('sqlite:'.length)
  try {
    return openSqliteStore(path)
  } catch (error) {
    throw new Error(
      `cannot open the database ${path}: ${messageOf(error)}; check DATABASE_URL and that the file and its folder can be written`,
      { cause: error },
    )
  }
}

/** Wires everything up and listens. The store is the caller's until this resolves, then the service's. */
export async function startService(
  config: Config,
  store: Store,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const { clock = systemClock, demoSecrets = new Set(), reportFailure = logFailure } = options
  const ledger = await LimitLedger.open(store, clock)
  const app = createApp({
    gate: {
      store,
      ledger,
      clock,
      demoSecrets,
      addresses: new AddressWindows(config.anonymousPerMinute, clock),
    },
    services: { store, clock },
    contract: buildContract({
      baseUrl: config.baseUrl,
      stagingBaseUrl: config.stagingBaseUrl,
      sunset: config.petSunset,
    }),
    sunset: config.petSunset,
    trustedProxies: config.trustProxy,
    reportFailure,
  })
  const listener = listen(app, config)
  const every = (interval: number, work: () => Promise<void>) =>
    setInterval(() => {
      work().catch((error: unknown) => reportFailure({ requestId: 'limit-ledger', error }))
    }, interval)
  const saving = every(SAVE_LIMITS_EVERY_MS, () => ledger.save())
  const pardoning = every(HEED_LIFTED_BANS_EVERY_MS, () => ledger.heedLiftedBans())

  return {
    port: listener.port,
    stop: async () => {
      await listener.stop()
      clearInterval(saving)
      clearInterval(pardoning)
      await ledger.save()
      await store.close()
    },
  }
}

function logFailure({ requestId, error }: { requestId: string; error: unknown }): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  console.error(JSON.stringify({ time: new Date().toISOString(), level: 'error', requestId, error: detail }))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
