import { afterEach, beforeEach, describe, expect } from 'bun:test'
import { run } from '../../../client/test/support/built-client.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import { keepCatalogSamples } from '../../src/docs-page/guides/keep-catalog-samples.ts'
import { KEY_PLACEHOLDER } from '../../src/docs-page/samples/request-samples.ts'
import { LANGUAGES, testWith } from '../support/guide-samples.ts'
import { printed } from '../support/printed-sample.ts'
import { usePython } from '../support/python-samples.ts'

describe('the samples of the guide on the catalogue run as they stand', () => {
  let service: TestService
  beforeEach(async () => {
    service = await TestService.start()
  })
  afterEach(() => service.stop())
  const inPython = usePython()

  const shown = (text: string) => text.replaceAll(/"id":\d+/g, '"id":0')

  for (const id of LANGUAGES) {
    testWith(id, async () => {
      const told: Record<string, unknown> = {}
      for (const [name, samples] of Object.entries(keepCatalogSamples(`${service.address}/v1`))) {
        const code = samples.find((sample) => sample.id === id)?.code.replaceAll(KEY_PLACEHOLDER, service.key)
        if (code === undefined) throw new Error(`${name} has no sample with ${id}`)
        // It follows events, which do not end.
        if (id === 'curl' && name === 'follow') continue
        if (id === 'client') told[name] = await printed(code, false)
        else if (id === 'python') told[name] = await inPython(code)
        else told[name] = shown((await run(['sh', '-c', code.replaceAll('curl ', 'curl --silent ')])).stdout)
      }
      expect(told).toEqual(
        id !== 'curl'
          ? {
              category: ['Reptiles are low at 5'],
              pet: [expect.stringMatching(/^pet \d+ has the barcode 2000000010007$/)],
              change: ['Biscuit is low at 3'],
              follow: ['low: 2 left', 'recovered: 26 again'],
            }
          : {
              category: '{"id":0,"name":"Reptiles","lowStockAt":5}',
              pet: '{"id":0,"name":"Corn snake","categoryId":1,"status":"available","barcode":"2000000010007"}',
              change: '{"id":0,"name":"Biscuit","categoryId":1,"status":"available","lowStockAt":3}',
            },
      )
    })
  }
})
