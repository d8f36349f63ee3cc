import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import {
  type Adjusted,
  AGENT,
  callTool,
  connectHttp,
  connectStdio,
  newKey,
  PROTOCOLS,
  refusalOf,
} from './support/connections.ts'

setDefaultTimeout(120_000)

/** It does not fit a number of JavaScript. */
const ODD = '9007199254740993'

describe.each([
  ['standard input and output', connectStdio],
  ['streamable HTTP', connectHttp],
])('over %s', (_, connect) => {
  test.each(PROTOCOLS)(
    'with the protocol of %s, an agent receives, does not oversell, and takes back',
    async (protocol) => {
      const service = await TestService.start({ realTime: true })
      const agent = await connect(service, protocol)

      const received = await callTool<Adjusted>(agent, 'receive', {
        lines: [{ petId: ODD, quantity: 5 }],
        reference: 'PO-1043',
        ...newKey(),
      })
      expect(received).toMatchObject({
        reason: 'received',
        reference: `PO-1043 (${AGENT})`,
        items: [{ petId: ODD, quantity: 12 }],
        replayed: false,
      })

      const refused = await refusalOf(agent, 'sell', { lines: [{ petId: ODD, quantity: 13 }], ...newKey() })
      expect(refused).toMatchObject({
        code: 'insufficient_stock',
        status: 409,
        details: [{ petId: ODD, available: 12 }],
      })
      expect(refused.next).toContain('at most the available units')
      expect(await callTool(agent, 'get_stock', { petId: ODD })).toEqual({
        petId: ODD,
        quantity: 12,
        reserved: 0,
        available: 12,
      })

      const lines = [
        { petId: ODD, quantity: 3 },
        { petId: '1', quantity: 2 },
      ]
      const sold = await callTool<Adjusted>(agent, 'sell', { lines, ...newKey() })
      expect(sold).toMatchObject({ reason: 'sold', reference: AGENT })
      expect(sold.items.map(({ quantity }) => quantity)).toEqual([9, 2])

      const goods = { adjustmentId: sold.id, lines: [{ petId: ODD, quantity: 2 }] }
      const back = await callTool<Adjusted>(agent, 'return', { ...goods, note: 'wrong size', ...newKey() })
      expect(back).toMatchObject({
        reason: 'returned',
        reverses: sold.id,
        note: `wrong size (${AGENT})`,
        items: [{ petId: ODD, quantity: 11 }],
      })
      expect(await refusalOf(agent, 'return', { ...goods, ...newKey() })).toMatchObject({
        code: 'already_reversed',
      })
      expect((await service.call('GET', `/inventory/${ODD}`)).text).toContain('"quantity":11')
    },
  )
})
