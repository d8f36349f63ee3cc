import { PERMISSIONS } from '../../../src/core/keys/api-key.ts'
import { SYSTEM_KEY_ID } from '../../../src/core/stock/command.ts'
import { checkAgainstContract } from '../../support/contract-check.ts'
import { ClockShop } from '../clock/clock-shop.ts'
import { judge, type Told } from './judge.ts'
import { runCommand } from './operator.ts'
import type { Plan } from './plan.ts'
import type { Call, Sender, Step } from './steps.ts'
import { ModelStream } from './stream.ts'
import { FIRST_PETS, ModelWorld, STRANGERS_PER_MINUTE, SUNSET } from './world.ts'

export type StoreKind = 'sqlite' | 'postgres'

export interface ModelRun {
  readonly shop: ClockShop
  readonly world: ModelWorld
  readonly store: StoreKind
  readonly counts: ModelCounts
  /** Records expired holds, as each instance does once a second at an unknown time. */
  endHolds(): Promise<void>
  /** Sends one request and compares the response with the model. */
  send(step: Extract<Step, { kind: 'request' }>): Promise<Told>
}

/** What was done, and the responses, by status and code. */
export class ModelCounts {
  requests = 0
  clockMoves = 0
  restarts = 0
  commands = 0
  /** The received events, and the expected threshold crossings. */
  events = 0
  crossings = 0
  readonly answers = new Map<string, number>()

  count({ status, headers, text }: Told, { method, path }: Plan): void {
    const code = status < 400 ? undefined : /"code":"(\w+)"/.exec(text)?.[1]
    const replayed = headers.has('Idempotency-Replayed') ? ' replayed' : ''
    const name = (code === undefined ? String(status) : `${status} ${code}`) + replayed
    const [resource] = path.slice(1).split(/[/?]/)
    for (const one of [name, `${method} /${resource} ${name}`]) {
      this.answers.set(one, (this.answers.get(one) ?? 0) + 1)
    }
  }
}

const HOUR = 3_600_000
/**
 * Low stock counts a hold until its expiry is recorded; calls that expire the holds of their pets themselves
 * are not listed here.
 */
const SEEN_LATE: readonly Call['kind'][] = [
  ...(['search', 'update', 'adjust', 'pet-update', 'category-update', 'again'] as const),
]
/** The simplest request. */
export const PLAINLY = {
  tags: 'none',
  isHead: false,
  idempotencyKey: undefined,
  instance: 0,
  times: 1,
} as const
/** A key is trusted for this time of the service's clock. */
const KEYS_TRUSTED_MS = 250
const ROOMY = { perMinute: 1_000_000, perDay: 1_000_000_000 }

/**
 * Applies the steps to a listening service and to the model, and throws at the first different response. On
 * PostgreSQL two instances with clocks an hour apart share the work.
 */
export async function runSteps(steps: readonly Step[], store: StoreKind, counts: ModelCounts): Promise<void> {
  const skews = store === 'postgres' ? [0, HOUR] : [0]
  const world = new ModelWorld(skews, store === 'sqlite')
  const shop = await ClockShop.open({
    store,
    skews,
    pets: FIRST_PETS,
    anonymousPerMinute: STRANGERS_PER_MINUTE,
    settings: {
      petSunset: new Date(SUNSET).toISOString().slice(0, 10),
    },
  })
  const run: ModelRun = {
    shop,
    world,
    store,
    counts,
    send: (step) => send(run, step),
    endHolds: () => endHolds(run),
  }
  try {
    await addFirstKeys(run)
    await lookAtClock(run)
    const stream = await ModelStream.begin(run)
    for (const [number, step] of steps.entries()) {
      try {
        await runStep(run, step, stream)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        const shown = JSON.stringify(step, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))
        throw new Error(`step ${number}, ${shown}: ${message}`, { cause: error })
      }
    }
    await stream.finish(run)
    counts.crossings += world.events.crossings
  } finally {
    await shop.close()
  }
}

async function addFirstKeys({ shop, world }: ModelRun): Promise<void> {
  const first = [
    { limits: ROOMY, permissions: PERMISSIONS },
    { limits: { perMinute: 3, perDay: 1_000 }, permissions: PERMISSIONS },
    { limits: { perMinute: 4, perDay: 8 }, permissions: PERMISSIONS },
    { limits: { perMinute: 60, perDay: 1_000 }, permissions: ['orders'] as const },
    { limits: { perMinute: 2, perDay: 40 }, permissions: PERMISSIONS, expiresAt: world.now + 2 * HOUR },
  ]
  for (const [number, { limits, ...facts }] of first.entries()) {
    const name = `key ${number}`
    const { id, secret } = await shop.createKey(limits, { name, ...facts })
    world.addKey({ id, name, secret, ...facts }, limits)
  }
}

async function runStep(run: ModelRun, step: Step, stream: ModelStream): Promise<void> {
  const { shop, world, counts } = run
  switch (step.kind) {
    case 'request':
      for (let sent = 0; sent < step.times; sent++) await send(run, step)
      break
    case 'clock':
      counts.clockMoves++
      await moveClock(run, step.by)
      break
    case 'restart':
      counts.restarts++
      await shop.restart()
      world.restart()
      await lookAtClock(run)
      break
    case 'events':
      await stream.compare(run, step.instance)
      break
    case 'command':
      counts.commands++
      await runCommand(run, step.command)
      await moveClock(run, KEYS_TRUSTED_MS)
      break
  }
}

/** The service must read its clock, or it could not notice a move there and back. */
async function moveClock(run: ModelRun, by: number): Promise<void> {
  if (by < 0) await run.endHolds()
  run.shop.now += by
  run.world.moveClock(by)
  await lookAtClock(run)
}

async function endHolds({ shop, world }: ModelRun): Promise<void> {
  const { store, now } = shop
  const holdsOf = await store.petsWithExpiredHolds(1_000)
  if (holdsOf.length > 0)
    await store.changeStock([{ type: 'release_holds', petIds: holdsOf, keyId: SYSTEM_KEY_ID, at: now }])
  world.orders.endHolds()
}

/**
 * Sends a request of the first key, which is known from the beginning and so never refused because of its
 * address.
 */
async function lookAtClock(run: ModelRun): Promise<void> {
  const sender: Sender = { kind: 'key', key: 0, secret: 0 }
  const look = { kind: 'request', sender, ...PLAINLY, call: { kind: 'list', coding: 'identity' } } as const
  await send(run, look)
}

async function send(run: ModelRun, step: Extract<Step, { kind: 'request' }>): Promise<Told> {
  const { shop, world, store } = run
  const instance = store === 'postgres' ? step.instance : 0
  if (world.orders.hasHolds && SEEN_LATE.includes(step.call.kind)) await run.endHolds()
  const { plan, authorization, check } = judge(world, step, instance)
  const response = await fetch(`${shop.address(instance)}/v1${plan.path}`, {
    method: plan.method,
    headers: { ...plan.headers, ...(authorization === undefined ? {} : { Authorization: authorization }) },
    ...(plan.body === undefined ? {} : { body: plan.body }),
  })
  const told: Told = { status: response.status, headers: response.headers, text: await response.text() }
  run.counts.requests++
  run.counts.count(told, plan)
  checkAgainstContract(plan.method, plan.path, told)
  const wrong = check(told)
  if (wrong.length > 0) {
    throw new Error(`${plan.method} ${plan.path} ${JSON.stringify(plan.headers)}: ${wrong.join('; ')}`)
  }
  return told
}
