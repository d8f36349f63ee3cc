// `petstore serve` with other constants: TEST_CONSTANTS has them as JSON.
import { type ServiceOptions, startService } from '../../src/service/compose.ts'
import { reachableAddress, readConfig, serviceAddress } from '../../src/service/config.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { PostgresSettings } from '../../src/store/postgres/connection-options.ts'

export interface TunedConstants {
  readonly postgres?: Partial<PostgresSettings>
  readonly service?: ServiceOptions
}

if (import.meta.main) {
  const { postgres = {}, service = {} }: TunedConstants = JSON.parse(Bun.env.TEST_CONSTANTS ?? '{}')
  const config = readConfig({ port: '0' })
  const store = await openStore(config.databaseUrl, { tables: 'migrate', exclusive: true }, postgres)
  const { logger, port, metricsPort, stop } = await startService(config, store, service)
  logger.info('listening', {
    address: serviceAddress(config, port),
    metrics:
      metricsPort === undefined
        ? undefined
        : `${reachableAddress('http', config.metricsHost, metricsPort)}/metrics`,
  })
  process.on('SIGTERM', () => void stop().then(() => process.exit(0)))
}
