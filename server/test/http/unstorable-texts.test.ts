import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { OPERATIONS } from '../../src/http/routes.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

/** PostgreSQL cannot store either of them in a text. */
const UNSTORABLE = ['a\0b', 'a\ud800b']

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ settings: { webhookPrivateAddresses: 'on' } })
  await addWebhook(service.store, { id: 1n, url: 'http://127.0.0.1:1111/' })
})
afterAll(() => service.stop())

const pathOf = (path: string) => path.replace(/\{[^}]+\}/, '1')

/** A valid body with a bad text in one of its fields. */
function badBodies(schema: object): object[] {
  const { examples = [], properties = {} } = schema as {
    examples?: readonly object[]
    properties?: Readonly<Record<string, object>>
  }
  return Object.keys(properties).flatMap((field) =>
    UNSTORABLE.map((text) => ({ ...examples[0], [field]: text })),
  )
}

describe('a text that a database cannot store', () => {
  const withBody = OPERATIONS.flatMap(({ operationId, method, path, body }) =>
    body === undefined ? [] : [{ operationId, method, path, body }],
  )
  test.each(withBody)('is 400 in every field of $operationId', async ({ method, path, body }) => {
    for (const sent of badBodies(body)) {
      const answer = await service.call(method, pathOf(path), {
        body: JSON.stringify(sent),
        headers: { 'Content-Type': 'application/json' },
      })
      expect([sent, answer.status]).toEqual([sent, 400])
    }
  })

  const withQuery = OPERATIONS.flatMap(({ operationId, path, query }) =>
    query === undefined ? [] : [{ operationId, path, names: Object.keys(query) }],
  )
  test.each(withQuery)(
    'causes no failure in any query parameter of $operationId',
    async ({ path, names }) => {
      for (const name of names) {
        for (const text of ['a%00b', 'a%ED%A0%80b']) {
          const { status } = await service.call('GET', `${pathOf(path)}?${name}=${text}`)
          expect([name, text, status]).toEqual([name, text, status < 500 ? status : 400])
        }
      }
    },
  )

  test('is 400 in an Idempotency-Key', async () => {
    const answer = await service.setQuantity(1n, '{"quantity": 1}', {
      headers: { 'Idempotency-Key': 'a\u00ffb' },
    })
    expect(answer.status).toBe(400)
  })
})
