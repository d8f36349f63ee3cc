import { afterAll, beforeAll, expect } from 'bun:test'
import { run } from '../../../client/test/support/built-client.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import type { Operation } from '../../docs/contract.ts'
import { samplesOf } from '../../docs/samples.ts'
import {
  contract,
  filledIn,
  LANGUAGES,
  orderOne,
  post,
  stockTheExample,
  testWith,
} from '../support/guide-samples.ts'
import { printed } from '../support/printed-sample.ts'
import { usePython } from '../support/python-samples.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ settings: { webhookPrivateAddresses: 'on' } })
})
afterAll(() => service.stop())
const inPython = usePython()

/** Creates the order, webhook, key, pet or category that the operation needs. */
function ownRecord({
  operationId,
  path,
}: Operation): readonly [parameter: string, created: ReturnType<typeof post>] {
  if (path.includes('{orderId}')) return ['orderId', orderOne(service)]
  if (path.includes('{adjustmentId}'))
    return [
      'adjustmentId',
      post(service, '/inventory/adjustments', '{"reason":"sold","changes":[{"petId":1,"delta":-2}]}'),
    ]
  // No receiver listens on this port.
  if (path.includes('{webhookId}'))
    return [
      'webhookId',
      post(service, '/webhooks', '{"url":"http://127.0.0.1:1025/","kinds":["pet.removed"]}'),
    ]
  if (operationId === 'removeCategory') return ['categoryId', post(service, '/categories', '{"name":"Fish"}')]
  if (operationId === 'removePet')
    return ['petId', post(service, '/pets', '{"name":"Goldie","categoryId":1}')]
  return ['keyId', post(service, '/keys', '{"name":"Anna","plan":"free"}')]
}

/** The bearer token that the operation needs: a pairing code or the key of the service. */
async function tokenFor({ operationId }: Operation, keyId: string): Promise<string> {
  if (operationId !== 'pairKey') return service.key
  const answer = await service.call('POST', `/keys/${keyId}/pairing-code`)
  return (answer.json as { readonly code: string }).code
}

for (const language of LANGUAGES) {
  testWith(language, `the sample of every operation runs in ${language}`, async () => {
    for (const operation of contract.operations) {
      await stockTheExample(service)
      const [parameter, created] = ownRecord(operation)
      const record = (await created).json as { readonly id?: number; readonly key?: { readonly id: string } }
      const id = String(record.key?.id ?? record.id)
      const isStream = operation.success.events !== undefined
      const sample = samplesOf(contract, operation, { [parameter]: id }).find(
        (each) => each.language === language,
      )
      if (sample === undefined) throw new Error(`${operation.operationId} has no sample in ${language}`)
      // curl follows a stream without an end.
      if (language === 'shell' && isStream) continue
      const code = filledIn(sample.code, { address: service.address, key: await tokenFor(operation, id) })
      if (language === 'typescript') await printed(code, isStream)
      else if (language === 'python') await inPython(code, isStream)
      else {
        const { stdout } = await run(['sh', '-c', `${code} --silent --write-out '\\n%{http_code}'`])
        const status = stdout.split('\n').at(-1)
        expect([operation.operationId, status]).toEqual([
          operation.operationId,
          String(operation.success.status),
        ])
      }
    }
  })
}
