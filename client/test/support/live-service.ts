import { TestService } from '../../../server/test/support/test-service.ts'
import { type IdKind, PetstoreClient, type PetstoreClientOptions } from '../../src/index.ts'
import { SYSTEM_TIME, type Time } from '../../src/waiting.ts'

export type TestOptions<Ids extends IdKind = 'bigint'> = Partial<PetstoreClientOptions<Ids> & Time>

/** A service with the default pets, and a client of it. */
export async function startClient(
  options: TestOptions = {},
  serviceOptions: Parameters<typeof TestService.start>[0] = {},
): Promise<{ readonly client: PetstoreClient; readonly service: TestService }> {
  const service = await TestService.start(serviceOptions)
  return { service, client: clientOf(service, options) }
}

/** A client of the service; its key has a high limit unless the options contain another. */
export function clientOf<Ids extends IdKind = 'bigint'>(
  service: TestService,
  options: TestOptions<Ids> = {},
): PetstoreClient<Ids> {
  return clientAt(`${service.address}/v1`, { apiKey: service.key, ...options })
}

/** A client whose clock the test may control. */
export function clientAt<Ids extends IdKind = 'bigint'>(
  baseUrl: string,
  { clock, sleep, random, ...options }: TestOptions<Ids> = {},
): PetstoreClient<Ids> {
  return new PetstoreClient<Ids>(
    { baseUrl, apiKey: 'k', ...options },
    {
      clock: clock ?? SYSTEM_TIME.clock,
      sleep: sleep ?? SYSTEM_TIME.sleep,
      random: random ?? SYSTEM_TIME.random,
    },
  )
}
