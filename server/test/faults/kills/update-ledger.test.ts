import { describe, expect, test } from 'bun:test'
import { type Fate, type Link, UpdateLedger } from './update-ledger.ts'

/** 1, 2 and 3 were sent one after the other to pet 7, with these outcomes. */
function ledgerOf(...fates: readonly Fate[]): UpdateLedger {
  const ledger = new UpdateLedger([7n])
  for (const [index, fate] of fates.entries()) {
    const began = index * 10
    ledger.note({ petId: 7n, quantity: ledger.nextQuantity(), began, ended: began + 5, fate })
  }
  return ledger
}

const chain = (...quantities: readonly number[]): Link[] =>
  quantities.map((after, index) => ({ id: `${index}`, before: quantities[index - 1] ?? 0, after }))
const findings = (ledger: UpdateLedger, links: readonly Link[], stock = links.at(-1)?.after ?? 0) =>
  ledger.violations(7n, { links, quantities: { 'the list': stock } })

describe('the ledger of sent updates', () => {
  test('accepts acknowledged updates, and either outcome of unanswered ones', () => {
    expect(findings(ledgerOf('acknowledged', 'refused', 'acknowledged'), chain(1, 3))).toEqual([])
    expect(findings(ledgerOf('acknowledged', 'unsure'), chain(1))).toEqual([])
    expect(findings(ledgerOf('acknowledged', 'unsure'), chain(1, 2))).toEqual([])
    expect(findings(ledgerOf(), [])).toEqual([])
  })

  test.each([
    ['an acknowledged update that is lost', ['acknowledged', 'acknowledged'], chain(1), 1],
    [
      'an update that is lost in the middle',
      ['acknowledged', 'acknowledged', 'acknowledged'],
      chain(1, 3),
      3,
    ],
    ['a refused update that was made', ['acknowledged', 'refused'], chain(1, 2), 2],
    ['an update that nobody sent', ['acknowledged'], chain(1, 9), 9],
    ['an update that was made twice', ['acknowledged', 'acknowledged'], chain(1, 2, 1), 1],
    ['another order than that of the responses', ['acknowledged', 'acknowledged'], chain(2, 1), 1],
    ['a stock that differs from the history', ['acknowledged'], chain(1), 0],
    ['a gap in the history', ['acknowledged'], [{ id: '0', before: 4, after: 1 }], 1],
  ] as const)('finds %s', (_, fates, links, stock) => {
    expect(findings(ledgerOf(...fates), links, stock)).not.toEqual([])
  })

  test('finds a history that has disappeared', () => {
    const ledger = ledgerOf('acknowledged', 'acknowledged')
    expect(findings(ledger, chain(1, 2))).toEqual([])
    expect(findings(ledger, chain(1))).not.toEqual([])
  })

  test('finds an unanswered update that was missing after a crash and reappears', () => {
    const ledger = ledgerOf('acknowledged', 'unsure')
    expect(findings(ledger, chain(1))).toEqual([])
    ledger.settle()
    expect(findings(ledger, chain(1, 2))).not.toEqual([])
  })

  test('finds an update that was made on another state than its If-Match named', () => {
    const ledger = ledgerOf('acknowledged')
    const sent = { petId: 7n, quantity: ledger.nextQuantity(), began: 10, ended: 15 }
    ledger.note({ ...sent, fate: 'acknowledged', onlyAfter: 0 })
    expect(findings(ledger, chain(1, 2))).not.toEqual([])
  })
})
