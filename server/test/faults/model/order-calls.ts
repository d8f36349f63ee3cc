import type { CancelCall, OrderCall, OrderUpdateCall } from './order-steps.ts'
import { type ModelOrder, type OrderRefusal, orderBody } from './orders.ts'
import { asText, failure, type Intent, type Outcome } from './outcome.ts'
import { petIdOf } from './plan.ts'
import { BAD_ORDER_UPDATES, BAD_ORDERS, SHIP_DATES } from './requests.ts'
import type { ModelWorld } from './world.ts'

const UNKNOWN_ORDER = 404_404_404n
const SECOND = 1_000

/** The id of an existing order, by number; the next number stands for an unknown order. */
export function orderIdOf(world: ModelWorld, number: number): bigint {
  const orders = world.orders.sorted()
  return orders[number % (orders.length + 1)]?.[0] ?? UNKNOWN_ORDER
}

/** The store chooses the id: the model reads it from the response. */
export function creation(world: ModelWorld, call: OrderCall): Intent {
  const petId = petIdOf(call.pet)
  const shipDate = SHIP_DATES[call.shipDate % SHIP_DATES.length]
  const told = {
    quantity: call.quantity,
    ...(call.holdSeconds === undefined ? {} : { holdSeconds: call.holdSeconds }),
    ...(shipDate === undefined ? {} : { shipDate: shipDate.text }),
  }
  const bad = BAD_ORDERS[call.body]
  return {
    method: 'POST',
    path: '/store/orders',
    headers: { 'Content-Type': 'application/json' },
    body: bad ?? `{"petId":${petId},${JSON.stringify(told).slice(1)}`,
    refusal: bad === undefined ? undefined : failure(400),
    decide: (by) => {
      const available = world.orders.availableOf(petId)
      if (available === undefined) return failure(404)
      if (available < call.quantity) return shortage(petId, available)
      const made: ModelOrder = {
        petId,
        quantity: call.quantity,
        state: 'open',
        createdAt: world.now,
        createdBy: by.id,
        ...(call.holdSeconds === undefined ? {} : { expiresAt: world.now + call.holdSeconds * SECOND }),
        ...(shipDate === undefined ? {} : { shipDate: shipDate.time }),
      }
      return {
        status: 201,
        made: {
          path: '/store/orders',
          isTaken: (id) => world.orders.find(id) !== undefined,
          bodyOf: (id) => orderBody(id, made),
          keep: (id) => {
            world.orders.put(id, made, 'created', by)
            world.catalog.tellCrossings(by)
          },
        },
      }
    },
  }
}

export function orderUpdate(world: ModelWorld, call: OrderUpdateCall): Intent {
  const id = orderIdOf(world, call.order)
  const shipDate = SHIP_DATES[call.shipDate % SHIP_DATES.length]
  const bad = BAD_ORDER_UPDATES[call.body]
  const good = shipDate === undefined ? '{"complete": true}' : `{"shipDate": "${shipDate.text}"}`
  return {
    method: 'PATCH',
    path: `/store/orders/${id}`,
    headers: { 'Content-Type': 'application/json' },
    body: bad ?? good,
    refusal: bad === undefined ? undefined : failure(400),
    decide: (by) => {
      const { orders } = world
      const changed =
        shipDate === undefined ? orders.complete(id, by) : orders.setShipDate(id, shipDate.time, by)
      if (typeof changed === 'string') return refused(world, id, changed)
      const body = orderBody(id, changed)
      return {
        status: 200,
        body,
        tagged: { resource: `order ${id}`, content: asText([body, true, undefined]) },
      }
    },
  }
}

export function cancellation(world: ModelWorld, call: CancelCall): Intent {
  const id = orderIdOf(world, call.order)
  return {
    method: 'DELETE',
    path: `/store/orders/${id}`,
    headers: {},
    body: '',
    decide: (by) => {
      const cancelled = world.orders.cancel(id, by)
      return typeof cancelled === 'string' ? refused(world, id, cancelled) : { status: 204 }
    },
  }
}

function refused(world: ModelWorld, id: bigint, why: OrderRefusal): Outcome {
  const order = world.orders.find(id)
  if (why === 'not_found' || order === undefined) return failure(404)
  const { petId, state } = order
  if (why === 'insufficient_stock') return shortage(petId, world.pets.get(petId)?.quantity ?? 0)
  return failure(409, { code: why, details: [{ index: 0, petId, code: why, state }] })
}

function shortage(petId: bigint, available: number): Outcome {
  return failure(409, { details: [{ index: 0, petId, code: 'insufficient_stock', available }] })
}
