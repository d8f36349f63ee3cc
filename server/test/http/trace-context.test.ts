import { expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const STEP_OF_OURS = new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-01$`)

test('a traced request is answered and logged as part of its trace, whatever its outcome', async () => {
  const service = await TestService.start({ settings: { logRequests: 'all' } })
  const traceparent = `00-${TRACE}-${SPAN}-01`
  const answers = [
    await service.call('GET', '/inventory', { headers: { traceparent } }),
    await service.call('GET', '/inventory', { headers: { traceparent }, key: null }),
    await service.fetch('GET', '/v1/nowhere', { headers: { traceparent } }),
    await service.fetch('GET', '/readyz', { headers: { traceparent }, key: null }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 200])
  for (const { headers } of answers) expect(headers.get('traceresponse')).toMatch(STEP_OF_OURS)

  const without = await service.call('GET', '/inventory')
  const wrong = await service.call('GET', '/inventory', { headers: { traceparent: `00-${TRACE}-0-01` } })
  for (const { headers } of [without, wrong]) expect(headers.get('traceresponse')).toBeNull()

  expect((await service.logged()).map(({ traceId }) => traceId)).toEqual([
    ...answers.map(() => TRACE),
    undefined,
    undefined,
  ])
})
