import { TestService } from '../../../server/test/support/test-service.ts'
import { PetstoreClient, type PetstoreClientOptions } from '../../src/index.ts'
import { SYSTEM_TIME, type Time } from '../../src/waiting.ts'

export type TestOptions = Partial<PetstoreClientOptions & Time>

/** A service with the default pets, and a client of it. */
export async function startClient(
  options: TestOptions = {},
  serviceOptions: Parameters<typeof TestService.start>[0] = {},
): Promise<{ readonly client: PetstoreClient; readonly service: TestService }> {
  const service = await TestService.start(serviceOptions)
  return { service, client: clientOf(service, options) }
}

/** A client of the service; its key has a high limit unless the options contain another. */
export function clientOf(service: TestService, options: TestOptions = {}): PetstoreClient {
  return clientAt(`${service.address}/v1`, { apiKey: service.key, ...options })
}

/** A client whose clock the test may control. */
export function clientAt(
  baseUrl: string,
  { clock, sleep, random, ...options }: TestOptions = {},
): PetstoreClient {
  return new PetstoreClient(
    { baseUrl, apiKey: 'k', ...options },
    {
      clock: clock ?? SYSTEM_TIME.clock,
      sleep: sleep ?? SYSTEM_TIME.sleep,
      random: random ?? SYSTEM_TIME.random,
    },
  )
}
