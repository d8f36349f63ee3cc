import { createSecret } from '../../../src/core/keys/api-key.ts'
import { planFor } from './answers.ts'
import type { Verdict } from './meter.ts'
import { asText, type MadeThing, type ModelAnswer, type Outcome } from './outcome.ts'
import type { Plan } from './plan.ts'
import type { Sender, Step } from './steps.ts'
import type { ModelKey, ModelWorld } from './world.ts'

/** A response as received. */
export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Judgement {
  readonly plan: Plan
  readonly authorization: string | undefined
  /** Returns all differences from the model. */
  check(told: Told): string[]
}

const UNKNOWN_SECRET = createSecret('production')
const DEPRECATED_SINCE = `@${Date.UTC(2026, 10, 1) / 1_000}`
const DEPRECATION_LINKS = ['rel="deprecation"', 'rel="sunset"', '</v1/catalog/']

/** The model's verdict on one request, which it has applied when this returns. */
export function judge(
  world: ModelWorld,
  step: Extract<Step, { kind: 'request' }>,
  instance: number,
): Judgement {
  const now = world.at(instance)
  const plan = planFor(step.call, { ...step, world, now })
  const sender = plan.sender ?? step.sender
  const { authorization, key } = senderOf(world, sender, now, instance)
  const verdict = key === undefined ? world.meetStranger(instance) : key.meter.ask(world.now)
  const outcome = outcomeOf(plan, verdict, key)
  const challenge =
    outcome.status !== 401
      ? undefined
      : sender.kind === 'none' || sender.kind === 'basic'
        ? 'Bearer realm="petstore"'
        : 'Bearer realm="petstore", error="invalid_token"'
  return {
    plan,
    authorization,
    check: (told) => [
      ...wrongHeaders(told, outcome, verdict, challenge),
      ...wrongBody(world, told, outcome, plan),
    ],
  }
}

function senderOf(
  world: ModelWorld,
  sender: Sender,
  now: number,
  instance: number,
): { authorization: string | undefined; key: ModelKey | undefined } {
  if (sender.kind !== 'key') {
    const texts = {
      none: undefined,
      basic: 'Basic dXNlcjpwYXNzd29yZA==',
      mistyped: `Bearer ${UNKNOWN_SECRET.slice(0, -1)}`,
      unknown: `bearer ${UNKNOWN_SECRET}`,
    }
    return { authorization: texts[sender.kind], key: undefined }
  }
  const key = keyOf(world, sender.key)
  const secret = key.secrets[sender.secret % key.secrets.length]
  if (secret === undefined) throw new Error(`${key.id} has no secret`)
  const isValid =
    world.looksUp(instance, secret) && !key.isRevoked && now < key.expiresAt && now < secret.endsAt
  return { authorization: `Bearer ${secret.text}`, key: isValid ? key : undefined }
}

export function keyOf(world: ModelWorld, number: number): ModelKey {
  const key = world.keys[number % world.keys.length]
  if (key === undefined) throw new Error('there are no keys')
  return key
}

/** The key is checked first, then its limit, then the request. */
function outcomeOf(plan: Plan, { refusal }: Verdict, key: ModelKey | undefined): Outcome {
  if (refusal !== undefined) return { status: 429, code: refusal.code }
  return key === undefined ? { status: 401, code: 'unauthorized' } : plan.answer(key)
}

function wrongHeaders(
  { status, headers }: Told,
  outcome: Outcome,
  verdict: Verdict,
  challenge: string | undefined,
): string[] {
  const wrong: string[] = []
  const expect = (name: string, wanted: string | undefined) => {
    const got = headers.get(name) ?? undefined
    if (got !== wanted) wrong.push(`${name} is ${got}, expected ${wanted}`)
  }
  if (status !== outcome.status) wrong.push(`status is ${status}, expected ${outcome.status}`)
  expect('X-RateLimit-Limit', String(verdict.limit))
  expect('X-RateLimit-Remaining', String(verdict.remaining))
  expect('X-RateLimit-Reset', String(verdict.reset))
  expect('Retry-After', verdict.refusal === undefined ? undefined : String(verdict.refusal.wait))
  expect('WWW-Authenticate', challenge)
  expect('Idempotency-Replayed', outcome.replays === undefined ? undefined : 'true')
  const allowed = headers.get('Allow')?.split(', ').sort().join()
  if (allowed !== outcome.allows?.toSorted().join())
    wrong.push(`Allow is ${allowed}, expected ${outcome.allows}`)
  const isDeprecated = outcome.isDeprecated === true
  expect('Deprecation', isDeprecated ? DEPRECATED_SINCE : undefined)
  expect('Sunset', isDeprecated ? 'Tue, 17 Nov 2026 00:00:00 GMT' : undefined)
  const link = headers.get('Link')
  if (isDeprecated) {
    const missing = DEPRECATION_LINKS.filter((part) => link?.includes(part) !== true)
    if (missing.length > 0) wrong.push(`Link is ${link}, and lacks ${missing.join(' and ')}`)
  } else if (outcome.next === undefined ? link !== null : !outcome.next.pattern.test(link ?? '')) {
    wrong.push(`Link is ${link}, expected ${outcome.next?.pattern ?? 'none'}`)
  }
  if (!headers.get('X-Request-Id')) wrong.push('X-Request-Id is missing')
  return wrong
}

function wrongBody(world: ModelWorld, told: Told, outcome: Outcome, plan: Plan): string[] {
  if (outcome.replays !== undefined) return wrongReplay(told, outcome.replays)
  const isEmpty = plan.method === 'HEAD' || outcome.status === 304 || outcome.status === 204
  if (isEmpty && told.text !== '') return [`the body is ${told.text.slice(0, 80)}, expected none`]
  if (told.status !== outcome.status) return [`the body is ${told.text.slice(0, 300)}`]
  const body: unknown = isEmpty ? undefined : exactJson(told.text)
  const wrong = outcome.code === undefined || isEmpty ? [] : wrongError(body, outcome)
  if (outcome.tagged !== undefined) {
    const { resource, content } = outcome.tagged
    const tag = told.headers.get('ETag')
    const form = told.headers.get('Content-Encoding') ?? 'identity'
    const problem =
      told.status === 304
        ? world.tags.check(resource, content, tag)
        : world.tags.record(resource, content, form, tag)
    if (problem !== undefined) wrong.push(problem)
  } else if (told.headers.has('ETag') && outcome.made === undefined)
    wrong.push(`there is an ETag on a ${told.status}`)
  if (outcome.made !== undefined) wrong.push(...wrongThing(told, body, outcome.made))
  else if (outcome.body !== undefined && !isEmpty) wrong.push(...wrongContent(world, body, outcome))
  remember(world, told, outcome, plan)
  return wrong
}

/** Identical to the last byte. */
function wrongReplay(told: Told, { told: first }: ModelAnswer): string[] {
  if (first === undefined) return ['the first answer is not known']
  const again = [told.status, told.text, told.headers.get('ETag')]
  return Bun.deepEquals(again, [first.status, first.text, first.tag])
    ? []
    : [`the answer is ${asText(again)}, and was ${asText(first)} the first time`]
}

function wrongError(body: unknown, { code, status, details }: Outcome): string[] {
  const {
    message,
    details: shown,
    field,
    ...rest
  } = body as { message?: unknown; details?: { message?: unknown; field?: unknown }[]; field?: unknown }
  const named = details?.map(({ index, available, ...detail }) => ({
    index: BigInt(index),
    ...detail,
    ...(available === undefined ? {} : { available: BigInt(available) }),
  }))
  const messages = [message, ...(shown ?? []).map((detail) => detail.message)]
  const isGood =
    Bun.deepEquals(rest, { code, status: BigInt(status) }) &&
    (field === undefined || code === 'invalid_request') &&
    Bun.deepEquals(
      shown?.map(({ message: _, field: _field, ...detail }) => detail),
      named,
    )
  return isGood && messages.every((text) => typeof text === 'string' && text.length > 10)
    ? []
    : [`the error is ${asText(body)}, expected ${asText({ code, status, details })}, with a message each`]
}

function wrongContent(world: ModelWorld, body: unknown, { body: wanted, shown }: Outcome): string[] {
  // Of an adjustment, the model knows only the entries.
  let got = isAdjustment(body) ? { items: body.items } : body
  const wrong: string[] = []
  if (shown !== undefined) {
    const entries = body as { id: string; adjustmentId: bigint; occurredAt: string }[]
    got = entries.map(({ id: _, adjustmentId: __, occurredAt: ___, ...entry }) => entry)
    const changes = world.historyOf(shown.petId)
    for (const [index, place] of shown.places.entries()) {
      const [change, id] = [changes[place], entries[index]?.id]
      if (change === undefined || id === undefined) continue
      if (change.id === undefined && changes.some((other) => other.id === id))
        wrong.push(`id ${id} is there twice`)
      change.id ??= id
      if (change.id !== id) wrong.push(`the id of a change is ${id}, and was ${change.id}`)
    }
  }
  if (!Bun.deepEquals(got, wanted)) wrong.push(`the body is ${asText(got)}, expected ${asText(wanted)}`)
  return wrong
}

function isAdjustment(body: unknown): body is { readonly items: unknown } {
  return typeof body === 'object' && body !== null && 'items' in body
}

/** Checks the id: the requested one, or one that nothing ever had. */
function wrongThing(
  told: Told,
  body: unknown,
  { id: asked, path, isTaken, bodyOf, keep }: MadeThing,
): string[] {
  const { id } = body as { id?: unknown }
  if (typeof id !== 'bigint' || (asked ?? id) !== id) return [`the id is ${id}, asked for was ${asked}`]
  const wrong: string[] = []
  if (asked === undefined && (id < 1n || isTaken(id))) wrong.push(`id ${id} was given once more`)
  keep(id)
  const place = told.headers.get('Location')
  if (place !== `/v1${path}/${id}`) wrong.push(`Location is ${place}`)
  const wanted = bodyOf(id)
  if (!Bun.deepEquals(body, wanted)) wrong.push(`the body is ${asText(body)}, expected ${asText(wanted)}`)
  return wrong
}

/** Stores the response for replays, and the position of the next page for following steps. */
function remember(world: ModelWorld, told: Told, { next, remembers }: Outcome, plan: Plan): void {
  const { headers } = told
  if (remembers !== undefined) {
    remembers.told = { status: told.status, text: told.text, tag: headers.get('ETag') }
  }
  const path = /^<\/v1([^>]+)>/.exec(headers.get('Link') ?? '')?.[1]
  if (next === undefined || path === undefined) return
  const query = new URL(`http://any${plan.path}`).searchParams
  const status = query.get('status') ?? undefined
  const { name, last, value } = next
  world.nextPages.set(name, { path, limit: Number(query.get('limit')), status, last, value })
}

/** All our numbers are integers, and compared to the last digit. */
export function exactJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? BigInt(context?.source ?? value) : value,
  )
}
