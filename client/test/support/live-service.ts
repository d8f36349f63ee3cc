import { afterEach } from 'bun:test'
import { TestService } from '../../../server/test/support/test-service.ts'
import { PetstoreClient, type PetstoreClientOptions } from '../../src/index.ts'

type StartOptions = Parameters<typeof TestService.start>[0]

const running: TestService[] = []

/** A listening service that ends with the test. */
export async function liveService(options: StartOptions = {}): Promise<TestService> {
  const service = await TestService.start(options)
  running.push(service)
  return service
}

/** To be called once in each test file that uses `liveService`. */
export function stopServicesAfterEach(): void {
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.stop()))
  })
}

/** A client of the service; its key is the roomy one unless the options give another. */
export function clientOf(service: TestService, options: Partial<PetstoreClientOptions> = {}): PetstoreClient {
  return new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: service.key, ...options })
}
