/** Bodies of an update: what they set the quantity to, or what is answered. `quantity` stands for a small number. */
export interface BodySample {
  readonly text: (quantity: number) => string
  readonly type?: string | null
  readonly sets?: (quantity: number) => number
  readonly status?: 400 | 413
}

const sets = (text: (quantity: number) => string, type?: string): BodySample => ({
  text,
  ...(type === undefined ? {} : { type }),
  sets: (quantity) => quantity,
})
const bad = (text: string, type?: string | null): BodySample => ({
  text: () => text,
  ...(type === undefined ? {} : { type }),
  status: 400,
})

/** More of the plain one, since it is what shops send. */
export const BODIES: readonly BodySample[] = [
  ...Array.from({ length: 40 }, () => sets((quantity) => `{"quantity": ${quantity}}`)),
  sets((quantity) => `{"quantity": ${quantity}.0}`),
  sets((quantity) => `{"quantity": ${quantity}e0, "status": "sold", "more": [{}]}`),
  sets((quantity) => ` {"quantity": ${quantity}}\n`, 'Application/JSON; charset=utf-8'),
  { text: () => '{"quantity": 9007199254740991}', sets: () => 9007199254740991 },
  { text: () => `{"quantity": 1, "padding": "${'x'.repeat(70_000)}"}`, status: 413 },
  ...[bad(''), bad('quantity=5'), bad('{"quantity": 5'), bad('[{"quantity": 5}]'), bad('null'), bad('5')],
  ...[bad('{}'), bad('{"quantity": "5"}'), bad('{"quantity": true}'), bad('{"quantity": null}')],
  ...[bad('{"quantity": 1.5}'), bad('{"quantity": -1}'), bad('{"quantity": 9007199254740992}')],
  ...[bad('{"quantity": 1e400}'), bad('{"Quantity": 5}'), bad('{"quantity": [5]}')],
  ...[bad('{"quantity": 5}', 'text/plain'), bad('{"quantity": 5}', null)],
]

/** A request that nobody should send, and what it is answered with, whatever is in stock. */
export interface OddRequest {
  readonly method: string
  readonly path: string
  readonly status: 400 | 404 | 405
  readonly allows?: readonly string[]
  readonly isDeprecated?: true
}

const LOOK = ['GET', 'HEAD']

export const ODD_REQUESTS: readonly OddRequest[] = [
  { method: 'GET', path: '/inventory/abc', status: 400 },
  { method: 'GET', path: '/inventory/1.5', status: 400 },
  { method: 'GET', path: '/inventory/+1', status: 400 },
  { method: 'GET', path: '/inventory/', status: 400 },
  { method: 'GET', path: '/inventory/9223372036854775808', status: 400 },
  { method: 'PATCH', path: '/inventory/-9223372036854775809', status: 400 },
  { method: 'PATCH', path: '/inventory/1e3', status: 400 },
  { method: 'GET', path: '/inventory/abc/history', status: 400 },
  { method: 'GET', path: '/inventory/1/history?limit=0', status: 400 },
  { method: 'GET', path: '/inventory/1/history?limit=101', status: 400 },
  { method: 'GET', path: '/inventory/1/history?limit=2&limit=3', status: 400 },
  { method: 'GET', path: '/inventory/1/history?cursor=nowhere', status: 400 },
  { method: 'GET', path: '/pets?status=gone', status: 400 },
  { method: 'GET', path: '/pets?limit=many', status: 400 },
  { method: 'GET', path: '/pets?cursor=1.5', status: 400 },
  { method: 'GET', path: '/pets?cursor=', status: 400 },
  { method: 'GET', path: '/pets/1.5', status: 400, isDeprecated: true },
  { method: 'GET', path: '', status: 404 },
  { method: 'GET', path: '/inventory/1/2', status: 404 },
  { method: 'GET', path: '/Inventory', status: 404 },
  { method: 'POST', path: '/store/order', status: 404 },
  { method: 'POST', path: '/inventory', status: 405, allows: LOOK },
  { method: 'PUT', path: '/inventory/1', status: 405, allows: [...LOOK, 'PATCH'] },
  { method: 'DELETE', path: '/inventory/abc', status: 405, allows: [...LOOK, 'PATCH'] },
  { method: 'PATCH', path: '/inventory/1/history', status: 405, allows: LOOK },
  { method: 'OPTIONS', path: '/pets', status: 405, allows: LOOK },
  { method: 'DELETE', path: '/pets/1', status: 405, allows: LOOK },
  { method: 'PUT', path: '/store/orders', status: 405, allows: [...LOOK, 'POST'] },
  { method: 'GET', path: '/store/orders/404', status: 404 },
  { method: 'GET', path: '/store/orders?state=none', status: 400 },
  { method: 'DELETE', path: '/inventory/1/availability', status: 405, allows: LOOK },
]
