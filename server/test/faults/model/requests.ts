/** Bodies of an update: the quantity they set, or the expected response. `quantity` stands for a small number. */
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

/** More of the plain one, because shops send it most. */
export const BODIES: readonly BodySample[] = [
  ...Array.from({ length: 40 }, () => sets((quantity) => `{"quantity": ${quantity}}`)),
  sets((quantity) => `{"quantity": ${quantity}.0}`),
  sets((quantity) => `{"quantity": ${quantity}e0, "status": "sold", "more": [{}]}`),
  sets((quantity) => ` {"quantity": ${quantity}}\n`, 'Application/JSON; charset=utf-8'),
  { text: () => '{"quantity": 9007199254740991}', sets: () => 9007199254740991 },
  ...[bad(''), bad('quantity=5'), bad('{"quantity": 5'), bad('[{"quantity": 5}]'), bad('null'), bad('5')],
  ...[bad('{}'), bad('{"quantity": "5"}'), bad('{"quantity": true}'), bad('{"quantity": null}')],
  ...[bad('{"quantity": 1.5}'), bad('{"quantity": -1}'), bad('{"quantity": 9007199254740992}')],
  ...[bad('{"quantity": 1e400}'), bad('{"Quantity": 5}'), bad('{"quantity": [5]}')],
  ...[bad('{"quantity": 5}', 'text/plain'), bad('{"quantity": 5}', null)],
  ...Array.from(
    { length: 5 },
    (): BodySample => ({ text: () => `{"quantity": 1, "padding": "${'x'.repeat(70_000)}"}`, status: 413 }),
  ),
]

export const REASONS = ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'] as const
export const REFERENCES = [undefined, 'PO-1043', '', 'Полка "3" 🐶, \\', 'x'.repeat(200)] as const

/** What changes have instead of exactly one of delta and quantity. */
export const FLAWS = [
  ...[
    '"delta":0',
    '"delta":1.5',
    '"delta":"5"',
    '"delta":9007199254740992',
    '"quantity":-1',
    '"quantity":null',
  ],
  ...['"delta":1,"quantity":1', '"note":1', '"delta":1,"expected":-1'],
] as const

const ONE_CHANGE = '"changes":[{"petId":1,"delta":1}]'
const badAdjustment = (text: string, status: 400 | 413 = 400, type = 'application/json') => ({
  text,
  status,
  type,
})

/** Invalid adjustments. */
export const BAD_ADJUSTMENTS: readonly {
  readonly text: string
  readonly status: number
  readonly type: string
}[] = [
  ...[
    badAdjustment(''),
    badAdjustment('[]'),
    badAdjustment(`{${ONE_CHANGE}}`),
    badAdjustment('{"reason":"sold"}'),
  ],
  ...[badAdjustment(`{"reason":"theft",${ONE_CHANGE}}`), badAdjustment('{"reason":"sold","changes":[]}')],
  badAdjustment('{"reason":"sold","changes":{}}'),
  badAdjustment(`{"reason":"sold","reference":"${'x'.repeat(201)}",${ONE_CHANGE}}`),
  badAdjustment(`{"reason":"sold","reference":"a\\u0007b",${ONE_CHANGE}}`),
  badAdjustment(`{"reason":"sold","reference":null,${ONE_CHANGE}}`),
  badAdjustment(`{"reason":"sold","changes":[${Array(1_001).fill('1')}]}`),
  badAdjustment(`{"reason":"sold","padding":"${'x'.repeat(270_000)}",${ONE_CHANGE}}`, 413),
  badAdjustment(`{"reason":"sold",${ONE_CHANGE}}`, 400, 'text/plain'),
]

/** Ship dates of orders; the first is none. Far from any time of the test. */
export const SHIP_DATES = [
  undefined,
  { text: '2027-01-31T10:00:00Z', time: Date.UTC(2027, 0, 31, 10) },
  { text: '2027-01-31T23:30:00.250+14:00', time: Date.UTC(2027, 0, 31, 9, 30, 0, 250) },
] as const

const order = (more: string) => `{"petId":1,${more}}`

/** Invalid orders. */
export const BAD_ORDERS: readonly string[] = [
  ...[
    '',
    '[]',
    '{}',
    '{"quantity":1}',
    '{"petId":"1","quantity":1}',
    '{"petId":1.5,"quantity":1}',
    order('"a":1'),
  ],
  ...[order('"quantity":0'), order('"quantity":-1'), order('"quantity":1.5'), order('"quantity":"1"')],
  ...[order('"quantity":1,"holdSeconds":0'), order('"quantity":1,"holdSeconds":2592001')],
  ...[order('"quantity":1,"holdSeconds":"60"'), order('"quantity":1,"shipDate":"tomorrow"')],
  ...[order('"quantity":1,"shipDate":null'), order('"quantity":1,"shipDate":"2027-01-31"')],
]

export const BAD_ORDER_UPDATES: readonly string[] = [
  ...['', '{}', '{"complete":false}', '{"complete":"true"}', '{"shipDate":"tomorrow"}', '{"quantity":1}'],
  '{"complete":true,"shipDate":"2027-01-31T10:00:00Z"}',
]

/** By the number of the key; other numbers stand for valid keys. */
export const BAD_KEYS: Readonly<Record<number, string>> = {
  6: '',
  7: 'x'.repeat(256),
  8: 'a b',
  9: 'cl\u00e9',
}

/** An unusual request, and its response, regardless of the stock. */
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
  { method: 'GET', path: '/inventory/1/history?limit=1001', status: 400 },
  { method: 'GET', path: '/inventory/1/history?limit=2&limit=3', status: 400 },
  { method: 'GET', path: '/inventory/1/history?cursor=nowhere', status: 400 },
  { method: 'GET', path: '/catalog?limit=many', status: 400 },
  { method: 'GET', path: '/catalog?cursor=1.5', status: 400 },
  { method: 'GET', path: '/catalog?cursor=', status: 400 },
  { method: 'GET', path: '/pets/1.5', status: 400, isDeprecated: true },
  { method: 'GET', path: '', status: 404 },
  { method: 'GET', path: '/inventory/1/2', status: 404 },
  { method: 'GET', path: '/Inventory', status: 404 },
  { method: 'POST', path: '/store/order', status: 404 },
  { method: 'POST', path: '/inventory', status: 405, allows: LOOK },
  { method: 'GET', path: '/inventory/adjustments', status: 405, allows: ['POST'] },
  { method: 'PATCH', path: '/inventory/adjustments', status: 405, allows: ['POST'] },
  { method: 'PUT', path: '/inventory/1', status: 405, allows: [...LOOK, 'PATCH'] },
  { method: 'DELETE', path: '/inventory/abc', status: 405, allows: [...LOOK, 'PATCH'] },
  { method: 'PATCH', path: '/inventory/1/history', status: 405, allows: LOOK },
  { method: 'OPTIONS', path: '/pets', status: 405, allows: ['POST'] },
  { method: 'PUT', path: '/pets/1', status: 405, allows: [...LOOK, 'PATCH', 'DELETE'] },
  { method: 'PUT', path: '/categories/1', status: 405, allows: ['PATCH', 'DELETE'] },
  { method: 'GET', path: '/inventory/search?sort=size', status: 400 },
  { method: 'PUT', path: '/store/orders', status: 405, allows: [...LOOK, 'POST'] },
  { method: 'GET', path: '/store/orders/404', status: 404 },
  { method: 'GET', path: '/store/orders?state=none', status: 400 },
  { method: 'DELETE', path: '/inventory/1/availability', status: 405, allows: LOOK },
]
