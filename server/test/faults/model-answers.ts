import { BODIES, ODD_REQUESTS } from './model-requests.ts'
import type { Call, TagChoice } from './model-steps.ts'
import type { Condition } from './model-tags.ts'
import { type ModelKey, type ModelWorld, PET_IDS, SUNSET } from './model-world.ts'

/** What must come back, limits aside. */
export interface Outcome {
  readonly status: number
  readonly code?: string
  /** Numbers are `bigint`. Of a history without ids, which only the service knows. */
  readonly body?: unknown
  readonly allows?: readonly string[]
  readonly isDeprecated?: boolean
  /** What the ETag stands for. */
  readonly tagged?: { readonly resource: string; readonly content: string }
  /** Where there is another page: under which name it is remembered, and its beginning. */
  readonly next?: { readonly name: string; readonly last: number | bigint; readonly pattern: RegExp }
  /** Indexes in the history of the entries that are shown. */
  readonly shown?: { readonly petId: bigint; readonly places: readonly number[] }
}

/** A request, and what the model makes of it once it is let in. */
export interface Plan {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  answer(key: ModelKey): Outcome
}

interface Setting {
  readonly world: ModelWorld
  readonly tags: TagChoice
  readonly isHead: boolean
  /** The time at the instance that is asked. */
  readonly now: number
}

const MEANING: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  410: 'gone',
  412: 'precondition_failed',
  413: 'payload_too_large',
}

export function failure(status: number, facts: Partial<Outcome> = {}): Outcome {
  const code = MEANING[status]
  return { status, ...(code === undefined ? {} : { code }), ...facts }
}

/** Ids and counts are digits on the wire, and compared as such. */
export function asText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}

export function petIdOf(number: number): bigint {
  return PET_IDS[number % PET_IDS.length] ?? 0n
}

export function planFor(call: Call, setting: Setting): Plan {
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
      const body = pet && { id: petId, name: pet.name, categoryId: pet.categoryId, status: pet.status }
      const plan = look(setting, `/pets/${petId}`, `pet ${petId}`, body)
      return {
        ...plan,
        answer: (key) =>
          setting.now >= SUNSET
            ? failure(410, { isDeprecated: true })
            : { ...plan.answer(key), isDeprecated: true },
      }
    }
    case 'orders': {
      const orders = [...setting.world.orders]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, { petId, quantity, shipDate, complete, createdAt }]) => ({
          ...{ id, petId, quantity: BigInt(quantity) },
          ...{ shipDate: new Date(shipDate).toISOString(), complete },
          ...{ state: complete ? 'complete' : 'open', createdAt: new Date(createdAt).toISOString() },
        }))
      return look(setting, '/store/orders', 'orders', orders)
    }
    case 'update':
      return update(setting, call)
    case 'history':
      return history(setting, call)
    case 'pets':
      return petPage(setting, call)
    case 'odd':
      return odd(setting, call.number)
  }
}

export function listOf(world: ModelWorld) {
  return world
    .sortedPets()
    .map(([petId, { quantity, status }]) => ({ petId, quantity: BigInt(quantity), status }))
}

/** Reading something that is there or not, unless the caller has it already. */
function look(
  { world, tags, isHead }: Setting,
  path: string,
  resource: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  facts: Partial<Outcome> = {},
): Plan {
  const content = asText([body, facts.next === undefined, facts.shown?.places])
  const condition = world.tags.condition(tags, resource, content, true)
  return {
    method: isHead ? 'HEAD' : 'GET',
    path,
    headers: { ...headers, ...given('If-None-Match', condition) },
    answer: () => {
      if (body === undefined) return failure(404)
      const tagged = { resource, content }
      return condition.holds ? { ...facts, status: 304, tagged } : { ...facts, status: 200, body, tagged }
    },
  }
}

function update(
  { world, tags, now }: Setting,
  call: { readonly pet: number; readonly body: number; readonly quantity: number },
): Plan {
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
      // Said in so many words: fetch would name a type of its own.
      'Content-Type': type ?? 'application/octet-stream',
      ...given('If-Match', condition),
    },
    body: text(call.quantity),
    answer: (key) => {
      if (key.readOnly) return failure(403)
      if (sets === undefined) return failure(status)
      if (condition.isMalformed) return failure(400)
      if (entry() === undefined) return failure(404)
      if (!condition.holds) return failure(412)
      world.setQuantity(petId, sets(call.quantity), { at: now, id: key.id, name: key.name })
      const body = entry()
      return { status: 200, body, tagged: { resource, content: contentOf(body) } }
    },
  }
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
    const { id: _, before, after, at, ...rest } = changes[place] ?? changes[0] ?? unknownChange()
    return {
      ...{ before: BigInt(before), after: BigInt(after) },
      ...{ at: new Date(at).toISOString(), ...rest },
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

function petPage(
  setting: Setting,
  call: { readonly status: string | undefined; readonly limit: number; readonly follows: boolean },
): Plan {
  const { world } = setting
  const page = call.follows ? world.nextPages.get('pets') : undefined
  const { limit, status } = page ?? call
  const after = page === undefined ? undefined : BigInt(page.last)
  const wanted = world
    .sortedPets()
    .filter(
      ([id, pet]) => (after === undefined || id > after) && (status === undefined || pet.status === status),
    )
  const body = wanted
    .slice(0, limit)
    .map(([id, pet]) => ({ id, name: pet.name, categoryId: pet.categoryId, status: pet.status }))
  const query = `${status === undefined ? '' : `status=${status}&`}limit=${limit}`
  const path = page?.path ?? `/pets?${query}`
  const pattern = new RegExp(`^</v1/pets\\?${query}&cursor=[^>]+>; rel="next"$`)
  const last = body.at(-1)?.id
  const hasNext = wanted.length > limit && last !== undefined
  return look(setting, path, path, body, {}, hasNext ? { next: { name: 'pets', last, pattern } } : {})
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
    answer: ({ readOnly }) => {
      if (isDeprecated && now >= SUNSET) return failure(410, { isDeprecated })
      if (readOnly && method === 'PATCH' && status === 400) return failure(403)
      return failure(status, { isDeprecated, ...(allows === undefined ? {} : { allows }) })
    },
  }
}

function given(name: string, { header }: Condition): Readonly<Record<string, string>> {
  return header === undefined ? {} : { [name]: header }
}

function unknownChange(): never {
  throw new Error('the model shows a change that it does not have')
}
