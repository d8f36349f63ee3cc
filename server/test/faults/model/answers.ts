import { petBody } from './catalog.ts'
import { catalogPlan, searchPlan } from './catalog-looks.ts'
import { changePlan, idempotencyOf } from './changes.ts'
import { orderIdOf } from './order-calls.ts'
import { orderBody } from './orders.ts'
import { failure } from './outcome.ts'
import { look, type Plan, petIdOf, type Setting } from './plan.ts'
import { ODD_REQUESTS } from './requests.ts'
import type { Call, ChangeCall, LookCall } from './steps.ts'
import { type ModelWorld, SUNSET } from './world.ts'

/** The plan of a request: what is sent and its expected outcome. Only changes use an Idempotency-Key. */
export function planFor(call: Call, setting: Setting): Plan {
  if (isChange(call)) return changePlan(call, setting) ?? planFor({ kind: 'orders' }, setting)
  const plan = lookFor(call, setting)
  return { ...plan, headers: { ...plan.headers, ...idempotencyOf(setting).headers } }
}

const CHANGES: readonly Call['kind'][] = [
  ...(['update', 'adjust', 'order', 'order-update', 'cancel', 'again'] as const),
  ...(['new-pet', 'pet-update', 'remove-pet', 'new-category', 'category-update', 'remove-category'] as const),
]

function isChange(call: Call): call is ChangeCall {
  return CHANGES.includes(call.kind)
}

function lookFor(call: LookCall, setting: Setting): Plan {
  switch (call.kind) {
    case 'list':
      return look(setting, '/inventory', 'list', listOf(setting.world), {
        'Accept-Encoding': call.coding,
      })
    case 'item': {
      const petId = petIdOf(call.pet)
      const pet = setting.world.pets.get(petId)
      const body = pet && { petId, quantity: BigInt(pet.quantity), status: pet.status }
      return look(setting, `/inventory/${petId}`, `entry ${petId}`, body)
    }
    case 'pet': {
      const petId = petIdOf(call.pet)
      const pet = setting.world.pets.get(petId)
      const body = pet && petBody(petId, pet)
      const plan = look(setting, `/pets/${petId}`, `pet ${petId}`, body)
      return {
        ...plan,
        answer: (key) =>
          setting.now >= SUNSET
            ? failure(410, { isDeprecated: true })
            : { ...plan.answer(key), isDeprecated: true },
      }
    }
    case 'orders':
      return orderPage(setting, '/store/orders')
    case 'order-page': {
      const query = [
        ...(call.state === undefined ? [] : [`state=${call.state}`]),
        ...(call.pet === undefined ? [] : [`petId=${petIdOf(call.pet)}`]),
        `limit=${call.limit}`,
      ]
      const page = call.follows ? setting.world.nextPages.get('orders') : undefined
      return orderPage(setting, page?.path ?? `/store/orders?${query.join('&')}`, page?.last)
    }
    case 'one-order': {
      const id = orderIdOf(setting.world, call.order)
      const order = setting.world.orders.find(id)
      return look(setting, `/store/orders/${id}`, `order ${id}`, order && orderBody(id, order))
    }
    case 'availability': {
      const petId = petIdOf(call.pet)
      const { pets, orders } = setting.world
      const quantity = BigInt(pets.get(petId)?.quantity ?? 0)
      const reserved = BigInt(orders.reservedOf(petId))
      const body = pets.has(petId) ? { petId, quantity, reserved, available: quantity - reserved } : undefined
      return look(setting, `/inventory/${petId}/availability`, `availability ${petId}`, body)
    }
    case 'history':
      return history(setting, call)
    case 'search':
      return searchPlan(setting, call)
    case 'catalog':
    case 'categories':
      return catalogPlan(setting, call)
    case 'odd':
      return odd(setting, call.number)
  }
}

export function listOf(world: ModelWorld) {
  return world
    .sortedPets()
    .map(([petId, { quantity, status }]) => ({ petId, quantity: BigInt(quantity), status }))
}

function history(
  setting: Setting,
  call: { readonly pet: number; readonly limit: number; readonly follows: boolean },
): Plan {
  const { world } = setting
  const petId = petIdOf(call.pet)
  const name = `history ${petId}`
  const page = call.follows ? world.nextPages.get(name) : undefined
  const limit = page?.limit ?? call.limit
  const changes = world.historyOf(petId)
  const end = page === undefined ? changes.length : Number(page.last)
  const places = Array.from({ length: Math.min(limit, end) }, (_, index) => end - 1 - index)
  const body = places.map((place) => {
    const { before, after, at, id: _, ...told } = changes[place] ?? changes[0] ?? unknownChange()
    return {
      before: BigInt(before),
      after: BigInt(after),
      at: new Date(at).toISOString(),
      ...told,
    }
  })
  const last = end - places.length
  const isKnown = changes.length > 0 || world.pets.has(petId)
  const path = page?.path ?? `/inventory/${petId}/history?limit=${limit}`
  const pattern = new RegExp(`^</v1/inventory/${petId}/history\\?limit=${limit}&cursor=[^>]+>; rel="next"$`)
  return look(
    setting,
    path,
    path,
    isKnown ? body : undefined,
    {},
    {
      ...(last > 0 ? { next: { name, last, pattern } } : {}),
      shown: { petId, places },
    },
  )
}

/** The path has the filters; the following pages have them in their links. */
function orderPage(setting: Setting, path: string, last?: number | bigint): Plan {
  const query = new URL(`http://any${path}`).searchParams
  const [state, pet, limit] = [query.get('state'), query.get('petId'), Number(query.get('limit') ?? 100)]
  const states = state === null ? ['open', 'complete'] : [state]
  const wanted = setting.world.orders
    .sorted()
    .filter(([id]) => last === undefined || id > BigInt(last))
    .filter(([, order]) => states.includes(order.state) && (pet === null || order.petId === BigInt(pet)))
  const shown = wanted.slice(0, limit)
  const body = shown.map(([id, order]) => orderBody(id, order))
  const end = shown.at(-1)?.[0]
  const pattern = /^<\/v1\/store\/orders\?[^>]*cursor=[^>]+>; rel="next"$/
  const hasNext = wanted.length > limit && end !== undefined
  return look(setting, path, path, body, {}, hasNext ? { next: { name: 'orders', last: end, pattern } } : {})
}

function odd({ now }: Setting, number: number): Plan {
  const request = ODD_REQUESTS[number % ODD_REQUESTS.length]
  if (request === undefined) throw new Error('there are no odd requests')
  const { method, path, status, allows, isDeprecated = false } = request
  return {
    method,
    path,
    headers: { 'Content-Type': 'application/json' },
    ...(method === 'PATCH' ? { body: '{"quantity": 1}' } : {}),
    answer: ({ permissions }) => {
      if (isDeprecated && now >= SUNSET) return failure(410, { isDeprecated })
      if (!permissions.includes('stock') && method === 'PATCH' && status === 400) return failure(403)
      return failure(status, { isDeprecated, ...(allows === undefined ? {} : { allows }) })
    },
  }
}

function unknownChange(): never {
  throw new Error('the model shows a change that it does not have')
}
