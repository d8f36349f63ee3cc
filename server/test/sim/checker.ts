import { stateRules } from '../../src/core/orders/order.ts'
import type { OrderEvent } from '../../src/core/stock/stock-event.ts'
import { type EventLog, tagOfWish } from './event-log.ts'
import {
  type Answered,
  type Attempt,
  type Operation,
  type OrderLine,
  type Verdict,
  verdictOf,
  type Wish,
  type WishOf,
} from './operations.ts'

/** Somebody has seen an event: in a stream or in a delivery. */
export interface SeenEvent {
  readonly seenAt: number
  readonly index: number
}

/** Nothing that was sent before a crash can happen after the restart. */
export interface Restart {
  readonly crashedAt: number
  /** The end of the log after the restart. */
  readonly position: number
}

export interface Witnessed {
  readonly operations: readonly Operation[]
  readonly seenEvents: readonly SeenEvent[]
  readonly restarts: readonly Restart[]
  /** The events up to this position are older than the operations. */
  readonly begin: number
}

/**
 * Matches every answer with a position in the log at which it is right. The positions must be in the order of time: an operation
 * that was sent after the answer to another one has a later position, or the same one if it changes nothing. An operation
 * without an answer has happened before a crash, or never.
 */
export function violationsOf(witnessed: Witnessed, log: EventLog): string[] {
  const check = new Check(witnessed, log)
  return [...log.violations(), ...check.run()]
}

class Check {
  readonly #witnessed: Witnessed
  readonly #log: EventLog
  readonly #violations: string[] = []
  /** The position that had been shown to somebody at each time. */
  readonly #shown = new ShownPositions()

  constructor(witnessed: Witnessed, log: EventLog) {
    this.#witnessed = witnessed
    this.#log = log
  }

  run(): string[] {
    const { operations, seenEvents } = this.#witnessed
    const answers = operations.flatMap((operation) =>
      operation.attempts.flatMap((attempt) => {
        const { outcome, endedAt } = attempt
        return outcome?.type === 'answered' && endedAt !== undefined
          ? [{ at: endedAt, operation, attempt, answer: outcome }]
          : []
      }),
    )
    const moments = [...answers, ...seenEvents.map(({ seenAt, index }) => ({ at: seenAt, index }))]
    for (const moment of moments.sort((one, other) => one.at - other.at)) {
      const position = 'index' in moment ? moment.index + 1 : this.#positionOf(moment)
      if (position !== undefined) this.#shown.add(moment.at, position)
    }
    for (const operation of operations) this.#checkEffect(operation)
    this.#checkOrigins()
    return this.#violations
  }

  /** The earliest position at which the answer is right; `undefined` if there is none, or if the answer shows nothing. */
  #positionOf({ operation, attempt, answer }: AnsweredAttempt): number | undefined {
    const { wish } = operation
    const verdict = verdictOf(answer)
    if (verdict === 'not_made' || verdict === 'unknown') return undefined
    if (wish.type === 'invalid') {
      if (answer.status !== wish.status) this.#complain(operation, `was answered ${answer.status}`)
      return undefined
    }
    if (answer.status >= 500) {
      this.#complain(operation, `was answered ${answer.status} ${answer.body}`)
      return undefined
    }
    const [first = attempt] = operation.attempts
    const since = this.#shown.before(first.sentAt)
    const ownEffect = verdict === 'made' ? this.#effectOf(operation) : undefined
    if (ownEffect !== undefined) {
      const last = ownEffect.at(-1)
      if (last === undefined) {
        this.#complain(operation, `was answered ${answer.status}, and is not in the log`)
        return undefined
      }
      const problem = describesEffect(this.#log, wish, answer, ownEffect)
      if (problem !== undefined) this.#complain(operation, problem)
      return last + 1
    }
    const wall = wallTimesOf(operation.attempts.filter(({ sentAt }) => sentAt <= attempt.sentAt))
    for (let position = since; position <= this.#log.end; position++) {
      if (!this.#log.isBetweenOperations(position)) continue
      if (isRight({ log: this.#log, position, answer, wall }, wish)) return position
    }
    this.#complain(
      operation,
      `was answered ${answer.status} ${answer.body}, which was right at no position from ${since} on`,
    )
    return undefined
  }

  /** The indexes of the events that only this operation can have caused; `undefined` if it need not have caused any. */
  #effectOf({ wish }: Operation): readonly number[] | undefined {
    // Completing or cancelling an order again changes nothing.
    if (wish.type === 'complete' || wish.type === 'cancel') return undefined
    const tag = tagOfWish(wish)
    return tag === undefined ? undefined : this.#log.indexesOf(tag)
  }

  /** Compares the answers of an operation with each other and with its effect. */
  #checkEffect(operation: Operation): void {
    const { attempts } = operation
    const verdicts = attempts.map(({ outcome }) => verdictOf(outcome))
    this.#checkRepeats(operation, verdicts)
    const effect = this.#effectOf(operation)
    const [firstIndex] = effect ?? []
    const [first] = attempts
    if (firstIndex === undefined || first === undefined) return
    if (verdicts.includes('refused')) this.#complain(operation, 'was refused and made')
    else if (verdicts.every((verdict) => verdict === 'not_made')) {
      this.#complain(operation, 'was answered as not made, and was made')
    }
    const since = this.#shown.before(first.sentAt)
    if (firstIndex < since) {
      this.#complain(
        operation,
        `is at position ${firstIndex}, and was sent when position ${since} had been shown`,
      )
    }
    const last = attempts.at(-1)?.sentAt ?? 0
    const restart = this.#witnessed.restarts.find(({ crashedAt }) => crashedAt > last)
    if (restart !== undefined && firstIndex >= restart.position) {
      this.#complain(operation, 'was not made before a crash, and was made after it')
    }
  }

  /** A repeated request gets the same answer. That of an order has the order as it is then. */
  #checkRepeats(operation: Operation, verdicts: readonly Verdict[]): void {
    const final = operation.attempts.flatMap(({ outcome }, index) => {
      const isFinal = verdicts[index] === 'made' || verdicts[index] === 'refused'
      if (!isFinal || outcome?.type !== 'answered') return []
      const isOrder = outcome.status < 300 && ORDER_WISHES.includes(operation.wish.type)
      return [
        `${outcome.status} ${isOrder && outcome.body !== '' ? JSON.parse(outcome.body).id : outcome.body}`,
      ]
    })
    const [first] = final
    const other = final.find((text) => text !== first)
    if (other !== undefined && operation.idempotencyKey !== undefined) {
      this.#complain(operation, `was answered ${first}, then ${other}`)
    }
  }

  /** Every event comes from one operation that was sent, or from the service itself. */
  #checkOrigins(): void {
    const operationsByTag = Map.groupBy(this.#witnessed.operations, ({ wish }) => tagOfWish(wish))
    for (const [tag, indexes] of this.#log.tags) {
      if ((indexes[0] ?? 0) < this.#witnessed.begin) continue
      const operations = operationsByTag.get(tag)
      const [operation] = operations ?? []
      if (operation === undefined) this.#violations.push(`${tag} is in the log and was never sent`)
      else if (indexes.length > eventCountOf(operation.wish, this.#log))
        this.#complain(operation, 'was made twice')
    }
  }

  #complain({ number, wish }: Operation, problem: string): void {
    this.#violations.push(`operation ${number} ${JSON.stringify(wish)} ${problem}`)
  }
}

const ORDER_WISHES: readonly Wish['type'][] = ['order', 'change_order', 'complete']

interface AnsweredAttempt {
  readonly operation: Operation
  readonly attempt: Attempt
  readonly answer: Answered
}

/** The latest position that was shown by any answer before a time. Answers are added in the order of time. */
class ShownPositions {
  readonly #times: number[] = []
  readonly #positions: number[] = []

  add(time: number, position: number): void {
    this.#times.push(time)
    this.#positions.push(Math.max(position, this.#positions.at(-1) ?? 0))
  }

  before(time: number): number {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#times[middle] ?? 0) < time) low = middle + 1
      else high = middle
    }
    return this.#positions[low - 1] ?? 0
  }
}

interface WallTimes {
  readonly earliest: number
  readonly latest: number
}

/** A repeated request may get the answer to an earlier attempt. */
function wallTimesOf(attempts: readonly Attempt[]): WallTimes {
  const times = attempts.flatMap(({ wallSentAt, wallEndedAt }) => [wallSentAt, wallEndedAt])
  return { earliest: Math.min(...times), latest: Math.max(...times) }
}

function eventCountOf(wish: Wish, log: EventLog): number {
  switch (wish.type) {
    case 'adjust':
      return wish.changes.length
    // The units of each line leave the stock, and the order is completed.
    case 'complete':
      return 1 + (log.orderAt(wish.orderId, log.end)?.lines.length ?? 0)
    default:
      return 1
  }
}

/** The first difference between a write with its answer and its events. */
function describesEffect(
  log: EventLog,
  wish: Wish,
  answer: Answered,
  indexes: readonly number[],
): string | undefined {
  const [index = 0] = indexes
  const after = (petId: number) => log.petAt(petId, (indexes.at(-1) ?? 0) + 1)
  const before = (petId: number) => log.petAt(petId, index)
  const body = answer.body === '' ? {} : JSON.parse(answer.body)
  switch (wish.type) {
    case 'set': {
      const isExpected = wish.ifMatch === undefined || wish.ifMatch === tagOf(before(wish.petId)?.quantity)
      if (!isExpected) return `was made on ${before(wish.petId)?.quantity}`
      return body.quantity === wish.quantity ? undefined : `was answered with ${answer.body}`
    }
    case 'adjust': {
      if (indexes.length !== wish.changes.length) return `has ${indexes.length} of its changes in the log`
      const isDone = wish.changes.every(({ petId, delta, quantity, expected }, at) => {
        const earlier = before(petId)?.quantity ?? Number.NaN
        const later = after(petId)?.quantity
        const isAsSent = later === (delta === undefined ? quantity : earlier + delta)
        return isAsSent && (expected ?? earlier) === earlier && body.items[at].quantity === later
      })
      return isDone ? undefined : `is in the log with other quantities than in ${answer.body}`
    }
    case 'order':
    case 'change_order': {
      const order = log.orderAt(body.id, index + 1)
      const hasLines = wish.lines === undefined || textOf(order?.lines ?? []) === textOf(wish.lines)
      return hasLines ? undefined : `was answered with ${answer.body}`
    }
    default:
      return undefined
  }
}

function textOf(lines: readonly (OrderLine | OrderEvent['lines'][number])[]): string {
  return lines
    .map(({ petId, quantity }) => `${quantity} of ${petId}`)
    .toSorted()
    .join()
}

function tagOf(quantity: number | undefined): string {
  return `"${quantity}-available"`
}

interface Moment {
  readonly log: EventLog
  readonly position: number
  readonly answer: Answered
  readonly wall: WallTimes
}

/** Whether a read, or the refusal of a write, is right at this position. */
function isRight(moment: Moment, wish: Wish): boolean {
  const { log, position, answer } = moment
  const { status } = answer
  const body = answer.body === '' ? undefined : JSON.parse(answer.body)
  const [detail] = body?.details ?? []
  switch (wish.type) {
    case 'list': {
      const shown = new Map<number, number>(body.map((item: Item) => [item.petId, item.quantity]))
      return log.petIds.every((petId) => log.petAt(petId, position)?.quantity === shown.get(petId))
    }
    case 'entry':
      return body.quantity === log.petAt(wish.petId, position)?.quantity
    case 'availability': {
      const pet = log.petAt(wish.petId, position)
      return body.quantity === pet?.quantity && isReserved(moment, wish.petId, body.reserved)
    }
    case 'read_order':
      return statesOf(moment, wish.orderId).includes(body.state)
    case 'latest_change': {
      const change = log.latestChangeAt(wish.petId, position)
      return body[0]?.before === change?.before && body[0]?.after === change?.after
    }
    case 'search': {
      const isNamedSo = log.petAt(wish.petId, position)?.name === wish.name
      return isNamedSo ? body.length === 1 && body[0].petId === wish.petId : body.length === 0
    }
    case 'set':
      return status === 412 && wish.ifMatch !== tagOf(log.petAt(wish.petId, position)?.quantity)
    case 'adjust':
      return isRefusedRightly(moment, wish)
    case 'order':
      return body.details.every((line: RefusedLine) => lacksStock(moment, line, wish.lines))
    case 'complete':
    case 'cancel': {
      const states = statesOf(moment, wish.orderId)
      if (status === 200) return states.includes('complete')
      if (status === 204) return states.includes('cancelled')
      if (detail.code === 'order_closed') return states.includes(detail.state)
      const lines = log.orderAt(wish.orderId, position)?.lines
      return body.details.every(({ petId, available = 0 }: RefusedLine) => {
        const line = lines?.find((each) => Number(each.petId) === petId)
        const quantity = log.petAt(petId ?? 0, position)?.quantity
        return line !== undefined && quantity === available && line.quantity > available
      })
    }
    case 'change_order': {
      if (detail.code === 'order_closed') return statesOf(moment, wish.orderId).includes(detail.state)
      const earlier = log.orderAt(wish.orderId, position)?.lines ?? []
      return body.details.every((line: RefusedLine) => lacksStock(moment, line, wish.lines, earlier))
    }
    case 'rename_pet':
      return status === 404 && log.petAt(wish.petId, position) === undefined
    case 'remove_pet': {
      const pet = log.petAt(wish.petId, position)
      if (status === 404) return pet === undefined
      return reservedUnits(moment, wish.petId).most > 0
    }
    default:
      return false
  }
}

interface Item {
  readonly petId: number
  readonly quantity: number
}

function isRefusedRightly(moment: Moment, { changes, keepReserved }: WishOf<'adjust'>): boolean {
  const { log, position, answer } = moment
  const { details } = JSON.parse(answer.body)
  return details.every(({ index, code, message, available }: RefusedLine) => {
    const change = changes[index]
    const quantity = log.petAt(change?.petId ?? 0, position)?.quantity
    if (change === undefined || quantity === undefined) return false
    if (code === 'precondition_failed') {
      return quantity !== change.expected && message.includes(` is ${quantity},`)
    }
    const { delta = 0 } = change
    if (code !== 'insufficient_stock' || available === undefined || available + delta >= 0) return false
    return keepReserved ? isReserved(moment, change.petId, quantity - available) : quantity === available
  })
}

/** Whether the line of an order names an unknown pet, or more additional units than were available. */
function lacksStock(
  moment: Moment,
  { index, code, available = 0 }: RefusedLine,
  lines: readonly OrderLine[] = [],
  earlier: OrderEvent['lines'] = [],
): boolean {
  const { petId, quantity } = lines[index] ?? { petId: 0, quantity: 0 }
  const pet = moment.log.petAt(petId, moment.position)
  if (code === 'not_found' || pet === undefined) return code === 'not_found' && pet === undefined
  const reserved = earlier.find((line) => Number(line.petId) === petId)?.quantity ?? 0
  return available < quantity - reserved && isReserved(moment, petId, pet.quantity - available)
}

interface RefusedLine {
  readonly index: number
  readonly petId?: number
  readonly code: string
  readonly message: string
  readonly available?: number
}

function isReserved(moment: Moment, petId: number, units: number): boolean {
  const { least, most } = reservedUnits(moment, petId)
  return units >= least && units <= most
}

/** The units that open orders reserve. A hold reserves nothing from the time at which it expires. */
function reservedUnits({ log, position, wall }: Moment, petId: number) {
  const orders = log.openOrdersAt(petId, position)
  const sumAt = (now: number) => {
    let units = 0
    for (const { orderId, lines } of orders) {
      const state = log.orderStateAt(Number(orderId), position, now)
      if (state === undefined || !stateRules(state).reserves) continue
      units += lines.find((line) => Number(line.petId) === petId)?.quantity ?? 0
    }
    return units
  }
  return { least: sumAt(wall.latest), most: sumAt(wall.earliest) }
}

/** The states that the order may have: one, unless it expires just then. */
function statesOf({ log, position, wall }: Moment, orderId: number): (string | undefined)[] {
  return [wall.earliest, wall.latest].map((now) => log.orderStateAt(orderId, position, now))
}
