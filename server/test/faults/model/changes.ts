import type { Permission } from '../../../src/core/keys/api-key.ts'
import { catalogIntent } from './catalog-calls.ts'
import { cancellation, creation, orderUpdate } from './order-calls.ts'
import { asText, type Detail, failure, type Intent } from './outcome.ts'
import { given, type Plan, petIdOf, type Setting } from './plan.ts'
import { BAD_ADJUSTMENTS, BAD_KEYS, BODIES, REASONS, REFERENCES } from './requests.ts'
import type { AdjustCall, ChangeCall, ChangeOfCall, UpdateCall } from './steps.ts'
import { DAY, type ModelWorld } from './world.ts'

const MAX_QUANTITY = Number.MAX_SAFE_INTEGER
const MAX_REPEATABLE = 20

/** `undefined` if there is nothing to repeat. */
export function changePlan(call: ChangeCall, setting: Setting): Plan | undefined {
  const { world, sender, idempotencyKey } = setting
  if (call.kind === 'again') {
    const sent = world.repeatable.at(-1 - call.back)
    if (sent === undefined) return undefined
    return { ...once({ ...setting, ...sent }, sent.intent), ...(call.bySame ? { sender: sent.sender } : {}) }
  }
  const intent = intentOf(setting, call)
  if (idempotencyOf(setting).name !== undefined) {
    // Tags have changed by then: it is repeated without them.
    const again = call.kind === 'update' ? update({ ...setting, tags: 'none' }, call) : intent
    world.repeatable.push({ intent: again, sender, idempotencyKey })
  }
  if (world.repeatable.length > MAX_REPEATABLE) world.repeatable.shift()
  return once(setting, intent)
}

function intentOf(setting: Setting, call: Exclude<ChangeCall, { kind: 'again' }>): Intent {
  switch (call.kind) {
    case 'update':
      return update(setting, call)
    case 'adjust':
      return adjustment(setting.world, call)
    case 'order':
      return creation(setting.world, call)
    case 'order-update':
      return orderUpdate(setting.world, call)
    case 'cancel':
      return cancellation(setting.world, call)
    default:
      return catalogIntent(setting.world, call)
  }
}

/** The Idempotency-Key to send; a well-formed one has a name under which its response is stored. */
export function idempotencyOf({ world, idempotencyKey: number, now }: Setting) {
  if (number === undefined) return { headers: {} }
  const bad = BAD_KEYS[number]
  if (bad !== undefined) return { headers: { 'Idempotency-Key': bad }, isMalformed: true }
  const name = world.idempotencyKey(number, now)
  return { headers: { 'Idempotency-Key': name }, name }
}

/** Decided once per API key and Idempotency-Key: method, path, If-Match and body identify the request. */
function once(setting: Setting, intent: Intent): Plan {
  const { world, now } = setting
  const { method, path, headers, body, refusal, createsStock, removesStock, decide } = intent
  const sent = idempotencyOf(setting)
  return {
    method,
    path,
    headers: { ...headers, ...sent.headers },
    body,
    answer: ({ id: keyId, name: keyName, permissions }) => {
      if (!permissions.includes(neededFor(path))) return failure(403)
      if (refusal !== undefined) return refusal
      if (sent.isMalformed) return failure(400)
      const mayChangeStock = permissions.includes('stock')
      if (createsStock && !mayChangeStock) return failure(403)
      const by = { at: now, id: keyId, name: keyName }
      const settle = () => {
        world.orders.endHolds()
        const outcome = removesStock?.() && !mayChangeStock ? failure(403) : decide(by)
        world.catalog.tellCrossings(by)
        return outcome
      }
      if (sent.name === undefined) return settle()
      const place = `${keyId} ${sent.name}`
      const fingerprint = `${method} ${path}\n${headers['If-Match'] ?? ''}\n${body}`
      const known = world.answers.get(place)
      if (known !== undefined && now - known.at < DAY) {
        if (known.fingerprint !== fingerprint) return failure(422)
        return { status: known.told?.status ?? Number.NaN, replays: known }
      }
      const outcome = settle()
      if (outcome.status === 400 || outcome.status === 403) return outcome
      const remembers = { fingerprint, at: now, mayBeGone: false }
      world.answers.set(place, remembers)
      return { ...outcome, remembers }
    },
  }
}

function neededFor(path: string): Permission {
  if (path.startsWith('/store/')) return 'orders'
  return path.startsWith('/inventory/') ? 'stock' : 'pets'
}

function update({ world, tags }: Setting, call: UpdateCall): Intent {
  const petId = petIdOf(call.pet)
  const sample = BODIES[call.body % BODIES.length]
  if (sample === undefined) throw new Error('there are no bodies')
  const { text, type = 'application/json', sets, status = 400 } = sample
  const resource = `entry ${petId}`
  const entry = () => {
    const pet = world.pets.get(petId)
    return pet && { petId, quantity: BigInt(pet.quantity), status: pet.status }
  }
  const contentOf = (body: unknown) => asText([body, true, undefined])
  const condition = world.tags.condition(tags, resource, contentOf(entry()), false)
  return {
    method: 'PATCH',
    path: `/inventory/${petId}`,
    headers: {
      // Explicit, because fetch would add a type of its own.
      'Content-Type': type ?? 'application/octet-stream',
      ...given('If-Match', condition),
    },
    body: text(call.quantity),
    refusal: sets === undefined ? failure(status) : condition.isMalformed ? failure(400) : undefined,
    decide: (by) => {
      if (entry() === undefined) return failure(404)
      if (!condition.holds) return failure(412)
      world.setQuantity(petId, sets?.(call.quantity) ?? Number.NaN, by)
      const body = entry()
      return { status: 200, body, tagged: { resource, content: contentOf(body) } }
    },
  }
}

/** A change as it is sent, and its parsed form; invalid changes have none. */
interface Wish {
  readonly petId: bigint
  readonly text: string
  readonly flaw: boolean
  readonly expected?: number | undefined
  result(quantity: number): number
}

function adjustment(world: ModelWorld, call: AdjustCall): Intent {
  const [reason, reference] = [
    REASONS[call.reason % REASONS.length],
    REFERENCES[call.reference % REFERENCES.length],
  ]
  const wishes = call.changes.map((change) => wishOf(world, change))
  const flaws = wishes.flatMap(({ petId, flaw }, index): Detail[] => {
    const isTwice = wishes.slice(0, index).some((earlier) => earlier.petId === petId)
    return flaw || isTwice ? [{ index, petId, code: 'invalid_request' }] : []
  })
  const bad = BAD_ADJUSTMENTS[call.body]
  const told = {
    ...(reason === undefined ? {} : { reason }),
    ...(reference === undefined ? {} : { reference }),
  }
  const whole = `${JSON.stringify(told).slice(0, -1)},"changes":[${wishes.map(({ text }) => text)}]}`
  const refusal = flaws.length > 0 ? failure(400, { details: flaws }) : undefined
  return {
    method: 'POST',
    path: '/inventory/adjustments',
    headers: { 'Content-Type': bad?.type ?? 'application/json' },
    body: bad?.text ?? whole,
    refusal: bad === undefined ? refusal : failure(bad.status),
    decide: (by) => {
      const details = wishes.flatMap((wish, index) => {
        const code = problemOf(world, wish)
        if (code === undefined) return []
        const { petId } = wish
        const available =
          code === 'insufficient_stock' ? { available: world.pets.get(petId)?.quantity ?? 0 } : {}
        return [{ index, petId, code, ...available }]
      })
      const status = STATUSES.find(([code]) => details.some((detail) => detail.code === code))?.[1]
      if (status !== undefined) return failure(status, { details })
      const items = wishes.map(({ petId, result }) => {
        const pet = world.pets.get(petId)
        if (pet === undefined) throw new Error('the model changes a pet that it does not have')
        const quantity = result(pet.quantity)
        world.setQuantity(petId, quantity, { ...by, ...told })
        return { petId, quantity: BigInt(quantity), status: pet.status }
      })
      return { status: 200, body: { items } }
    },
  }
}

/** In the order of the checks. */
const STATUSES = [
  ['invalid_request', 400],
  ['not_found', 404],
  ['insufficient_stock', 409],
  ['precondition_failed', 412],
] as const

function problemOf(
  world: ModelWorld,
  { petId, expected, result }: Wish,
): (typeof STATUSES)[number][0] | undefined {
  const quantity = world.pets.get(petId)?.quantity
  if (quantity === undefined) return 'not_found'
  if (expected !== undefined && expected !== quantity) return 'precondition_failed'
  if (result(quantity) < 0) return 'insufficient_stock'
  return result(quantity) > MAX_QUANTITY ? 'invalid_request' : undefined
}

function wishOf(world: ModelWorld, { pet, by, amount, expects, flaw }: ChangeOfCall): Wish {
  const petId = petIdOf(pet)
  const now = world.pets.get(petId)?.quantity ?? 0
  const expected = expects === 'none' ? undefined : expects === 'current' ? now : now === 0 ? 1 : now - 1
  const delta = amount === 0 ? 1 : amount
  const asked = by === 'delta' ? `"delta":${delta}` : `"quantity":${Math.abs(amount)}`
  const whole = expected === undefined ? asked : `${asked},"expected":${expected}`
  return {
    petId,
    text: `{"petId":${petId},${flaw ?? whole}}`,
    flaw: flaw !== undefined,
    expected,
    result: (quantity) => (by === 'delta' ? quantity + delta : Math.abs(amount)),
  }
}
