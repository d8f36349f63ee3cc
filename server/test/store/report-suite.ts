import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  type MovementFigures,
  type MovementReport,
  REPORT_GROUPS,
  type ReportGroup,
  type ReportRequest,
  reportMovements,
} from '../../src/core/reports/movement-report.ts'
import type { ReportStore } from '../../src/core/reports/report-store.ts'
import { HOUR, SECOND } from '../../src/core/values/clock.ts'
import { reportMethods } from '../../src/store/reports.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { removePet } from '../support/remove-pet.ts'
import { type FactRow, insertFacts, randomFacts } from './random-facts.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** The clocks of Berlin go back on October 25. */
const RANGE = { since: Date.UTC(2026, 9, 24, 9, 30), until: Date.UTC(2026, 9, 27, 1) }
const TIME_ZONE = 'Europe/Berlin'
const LOCAL_DATE = new Intl.DateTimeFormat('en-CA', { timeZone: TIME_ZONE, dateStyle: 'short' })
/** Pet 4 was removed; it has no category any more. */
const CATEGORIES: Readonly<Record<string, bigint>> = { 1: 7n, 2: 7n, 3: 8n }

type Figures = { -readonly [Name in keyof MovementFigures]: number }
type Figure = keyof Figures

const OUTGOING: readonly string[] = ['sold', 'damaged', 'lost']

/** Sums the facts one by one, from their definition. */
function sumOf(facts: readonly FactRow[], all: readonly FactRow[]): Figures {
  const figures: Figures = {
    received: 0,
    returned: 0,
    sold: 0,
    damaged: 0,
    lost: 0,
    countedUp: 0,
    countedDown: 0,
    corrected: 0,
    change: 0,
  }
  for (const fact of facts) {
    const change = (fact.after ?? 0) - fact.before
    const reversed = all.find(({ id }) => id === fact.reverses)
    const isCorrection = reversed !== undefined && fact.reason !== 'returned'
    const reason = isCorrection ? reversed.reason : fact.reason
    const isCount = fact.delta === null || reason === 'counted'
    const stated = isCount ? 0 : (fact.delta ?? 0)
    const figure = (reason ?? 'corrected') as Figure
    if (!isCount) figures[figure] += OUTGOING.includes(figure) ? -stated : stated
    const counted = change - stated
    if (counted > 0) figures[isCorrection ? 'countedDown' : 'countedUp'] += isCorrection ? -counted : counted
    if (counted < 0) figures[isCorrection ? 'countedUp' : 'countedDown'] += isCorrection ? counted : -counted
    figures.change += change
  }
  return figures
}

const timeOf = ({ occurredAt, at }: FactRow) => occurredAt ?? at
const isEmpty = (figures: Figures) => Object.values(figures).every((value) => value === 0)

/** The id of each row of a report, with its figures. */
function expectedRows(by: ReportGroup, facts: readonly FactRow[], all: readonly FactRow[]) {
  if (by === 'reason') return reasonRows(sumOf(facts, all))
  const groupOf = (fact: FactRow) => {
    if (by === 'day') return LOCAL_DATE.format(timeOf(fact))
    if (by === 'pet') return String(fact.petId)
    return by === 'key' ? fact.keyId : String(CATEGORIES[String(fact.petId)])
  }
  return Object.entries(Object.groupBy(facts, groupOf))
    .map(([group, own = []]) => [group, sumOf(own, all)] as const)
    .filter(([, figures]) => !isEmpty(figures))
    .sort()
}

function reasonRows(total: Figures) {
  const names = {
    received: ['received'],
    returned: ['returned'],
    sold: ['sold'],
    damaged: ['damaged'],
    lost: ['lost'],
    counted: ['countedUp', 'countedDown'],
    corrected: ['corrected'],
  } as const
  return Object.entries(names)
    .map(([reason, own]) => {
      const figures = sumOf([], [])
      for (const name of own) {
        figures[name] = total[name]
        figures.change += OUTGOING.includes(name) || name === 'countedDown' ? -total[name] : total[name]
      }
      return [reason, figures] as const
    })
    .filter(([, figures]) => !isEmpty(figures))
    .sort()
}

function rowsIn({ rows }: MovementReport) {
  return rows
    .map(({ day, petId, categoryId, keyId, reason, name: _, ...figures }) => [
      String(day ?? petId ?? categoryId ?? keyId ?? reason),
      figures,
    ])
    .sort()
}

/** The guarantees of every adapter for reports. */
export function reportSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: reports`, () => {
    const now = RANGE.until
    let store: Store
    let connection: Awaited<ReturnType<StoreUnderTest['connect']>>
    beforeEach(async () => {
      store = await underTest.open(() => now)
      connection = await underTest.connect()
      const pet = { status: 'available', quantity: 0 } as const
      await addPets(store, [
        { ...pet, id: 1n, name: 'Rex', categoryId: 7n },
        { ...pet, id: 2n, name: 'Tom', categoryId: 7n },
        { ...pet, id: 3n, name: 'Nemo', categoryId: 8n },
        { ...pet, id: 4n, name: 'Gone', categoryId: 8n },
      ])
      await removePet(store, 4n)
      await connection.commit([{ text: 'DELETE FROM log', values: [] }])
    })
    afterEach(async () => {
      await connection.close()
      await store.close()
      await underTest.discard()
    })

    const report = (reports: ReportStore, by: ReportGroup, request: Partial<ReportRequest> = {}) =>
      reportMovements(reports, { ...RANGE, by, timeZone: TIME_ZONE, now, ...request })

    test('are the sums of the facts that happened in the range, by every group, net of reversals', async () => {
      const facts = randomFacts({ since: RANGE.since - 20 * HOUR, until: RANGE.until + 20 * HOUR }, 600)
      await insertFacts(connection, facts)
      const inRange = facts.filter((fact) => timeOf(fact) >= RANGE.since && timeOf(fact) < RANGE.until)
      const total = sumOf(inRange, facts)
      // With steps of all sizes: those of the store are larger than the log.
      for (const reports of [store, reportMethods(connection, 7), reportMethods(connection, 500)]) {
        for (const by of REPORT_GROUPS) {
          const result = await report(reports, by)
          expect([by, result.total]).toEqual([by, total])
          expect([by, rowsIn(result)]).toEqual([by, expectedRows(by, inRange, facts) as never])
        }
      }
      const { received, returned, sold, damaged, lost, countedUp, countedDown, corrected, change } = total
      expect(received + returned + countedUp + corrected - sold - damaged - lost - countedDown).toBe(change)
      expect(await report(store, 'pet', { since: 0, until: 1 })).toMatchObject({
        rows: [],
        total: { change: 0 },
      })
    })

    test('name pets, categories and keys that exist, in the order of their ids', async () => {
      const sale = { before: 9, after: 8, at: RANGE.since, delta: -1, reason: 'sold' }
      await insertFacts(
        connection,
        [2n, 1n, 4n].map((petId, index) => ({
          ...EMPTY,
          ...sale,
          id: BigInt(index + 1),
          petId,
          keyId: 'till',
        })),
      )
      expect((await report(store, 'pet')).rows).toMatchObject([
        { petId: 1n, name: 'Rex', sold: 1 },
        { petId: 2n, name: 'Tom', sold: 1 },
        { petId: 4n, sold: 1, change: -1 },
      ])
      const categories = (await report(store, 'category')).rows
      expect(categories).toMatchObject([{ categoryId: 7n, name: 'Category 7', sold: 2 }, { sold: 1 }])
      expect(categories[1]).not.toHaveProperty('categoryId')
      expect((await report(store, 'key')).rows).toMatchObject([{ keyId: 'till', sold: 3 }])
    })

    test('a sale that a count had included counts as sold and in the other direction as counted, until it is corrected', async () => {
      const sale = { before: 5, after: 5, at: RANGE.since + SECOND, occurredAt: RANGE.since, delta: -2 }
      const sold = { ...EMPTY, ...sale, id: 1n, reason: 'sold', effect: 'already_counted' }
      await insertFacts(connection, [sold])
      expect((await report(store, 'day')).rows).toMatchObject([
        { day: '2026-10-24', sold: 2, countedUp: 2, countedDown: 0, change: 0 },
      ])
      const correction = { at: RANGE.since + 30 * HOUR, delta: 2, reason: 'correction', reverses: 1n }
      await insertFacts(connection, [{ ...sold, ...correction, id: 2n }])
      expect((await report(store, 'day')).rows).toEqual([])
      expect((await report(store, 'reason')).total.sold).toBe(0)
    })

    test('exceed no number that JSON holds', async () => {
      const counts = Array.from({ length: 1_100 }, (_, index) => ({
        ...EMPTY,
        id: BigInt(index + 1),
        at: RANGE.since,
        before: 0,
        after: Number.MAX_SAFE_INTEGER,
      }))
      await insertFacts(connection, counts)
      const { countedUp, countedDown, change } = (await report(store, 'day')).total
      expect([countedUp, countedDown, change]).toEqual([Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER])
    })

    test('say from when the history is complete, once something was removed from it', async () => {
      expect(await report(store, 'day')).toHaveProperty('completeSince')
      await insertFacts(connection, [
        { ...EMPTY, id: 101n, at: RANGE.since },
        { ...EMPTY, id: 102n, at: RANGE.since + 1 },
      ])
      await store.pruneHistory({ before: RANGE.since + 1 }, 10)
      expect((await report(store, 'day')).completeSince).toBe(RANGE.since + 1)
    })
  })
}

const EMPTY: FactRow = {
  id: 0n,
  kind: 'change',
  petId: 1n,
  before: 0,
  after: 0,
  at: 0,
  occurredAt: null,
  keyId: 'key_a',
  reason: null,
  delta: null,
  effect: null,
  reverses: null,
  document: null,
}
