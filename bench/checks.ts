import type { Dataset } from './dataset.ts'
import type { Entrant, Sample } from './measure.ts'
import { firstUrl, LIST_PATH, ORDERS_PATH, type RunningTarget, type Target } from './target.ts'

const LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
/** Above every order of a load, within 32 bits. */
const PLENTY = 1_000_000_000

/** Ends the run: a figure for other work than that of the case would be worse than none. */
export class WrongResponse extends Error {
  override readonly name = 'WrongResponse'
}

/** Every target sends the same bytes. */
export async function checkList(target: Target, running: RunningTarget, dataset: Dataset): Promise<void> {
  const response = await send(running, 'GET', LIST_PATH)
  const body = await response.text()
  if (target.kind !== 'ceiling') expectLimitHeaders(target, response)
  if (response.status === 200 && body === dataset.body) return
  throw new WrongResponse(
    `${target.name} lists ${dataset.pets} pets with ${response.status} and ${body.length} bytes ` +
      `${body.slice(0, 200)}…, expected ${dataset.body.length} bytes ${dataset.body.slice(0, 200)}…`,
  )
}

/** Checks that the target does the work that the case measures. */
export async function checkLoad({ target, running, plan }: Entrant): Promise<void> {
  const { load } = plan
  switch (load.kind) {
    case 'list':
      return
    case 'updates':
      return checkUpdate(target, running)
    case 'adjustments':
      return checkAdjustments(target, running)
    case 'orders':
    case 'baskets':
      return checkOrders(target, running)
    case 'unknown-key': {
      const response = await send(running, 'GET', LIST_PATH, { secret: running.secrets.unknown })
      expectLimitHeaders(target, response)
      if (response.status === 401) return
      throw new WrongResponse(`${target.name} answers an unknown key with ${response.status}`)
    }
  }
}

async function checkUpdate(target: Target, running: RunningTarget): Promise<void> {
  const response = await send(running, 'PATCH', `${LIST_PATH}/1`, { body: '{"quantity":1234}' })
  const body = JSON.stringify(await response.json())
  if (response.status !== 200 || body !== '{"petId":1,"quantity":1234,"status":"available"}') {
    throw new WrongResponse(`${target.name} answers an update with ${response.status} ${body}`)
  }
  const history = await send(running, 'GET', `${LIST_PATH}/1/history`)
  const [latest] = (await history.json()) as readonly { readonly after?: unknown }[]
  if (latest?.after === 1234) return
  throw new WrongResponse(`${target.name} has ${JSON.stringify(latest)} as the latest history of a pet`)
}

/** An adjustment changes all of its pets or none. */
async function checkAdjustments(target: Target, running: RunningTarget): Promise<void> {
  await checkUpdate(target, running)
  const expected: readonly (readonly [changes: string, response: string])[] = [
    ['{"petId":1,"delta":1},{"petId":987654321,"delta":1}', '404'],
    ['{"petId":1,"delta":1.5}', '400'],
    ['{"petId":1,"delta":-99999}', '409'],
    ['{"petId":1,"delta":-4}', '200 [{"petId":1,"quantity":1230,"status":"available"}]'],
  ]
  for (const [changes, wanted] of expected) {
    const body = `{"reason":"received","changes":[${changes}]}`
    const response = await send(running, 'POST', `${LIST_PATH}/adjustments`, { body })
    const { items } = (await response.json()) as { readonly items?: unknown }
    const got = response.ok ? `${response.status} ${JSON.stringify(items)}` : String(response.status)
    if (got !== wanted) throw new WrongResponse(`${target.name} answers ${body} with ${got}, not ${wanted}`)
  }
}

/** Leaves pets 1 and 2 with more units than any load orders. */
async function checkOrders(target: Target, running: RunningTarget): Promise<void> {
  const line = (petId: number, quantity: number) => ({ petId, quantity })
  const expected: readonly (readonly [order: object, status: number])[] = [
    [line(1, PLENTY + 1), 409],
    [line(1, 1.5), 400],
    [line(987654321, 1), 404],
    [{ lines: [line(1, 1), line(2, PLENTY + 1)] }, 409],
    [{ lines: [line(1, 1), line(987654321, 1)] }, 404],
    [{ lines: [line(1, 1), line(1, 1)] }, 400],
    [line(1, 1), 201],
    [{ lines: [line(2, 2), line(1, 1)] }, 201],
  ]
  for (const petId of [1, 2]) {
    await send(running, 'PATCH', `${LIST_PATH}/${petId}`, { body: `{"quantity":${PLENTY}}` })
  }
  for (const [order, status] of expected) {
    const body = JSON.stringify(order)
    const response = await send(running, 'POST', ORDERS_PATH, { body })
    const answer = (await response.json()) as Partial<PlacedOrder>
    const wanted = 'lines' in order ? [line(1, 1), line(2, 2)] : [order]
    if (response.status === status && (status !== 201 || isPlaced(response, answer, wanted))) continue
    throw new WrongResponse(
      `${target.name} answers ${body} with ${response.status} ${JSON.stringify(answer)}, expected ${status}`,
    )
  }
}

interface PlacedOrder {
  readonly id: number
  readonly lines: readonly { readonly petId: number; readonly quantity: number }[]
  readonly state: string
  readonly complete: boolean
  readonly createdAt: string
  readonly createdBy: string
}

function isPlaced(
  { headers }: Response,
  { id, lines = [], state, complete, createdAt, createdBy }: Partial<PlacedOrder>,
  wanted: readonly object[],
): boolean {
  const got = lines
    .toSorted((one, other) => one.petId - other.petId)
    .map(({ petId, quantity }) => ({ petId, quantity }))
  return (
    headers.get('Location') === `${ORDERS_PATH}/${id}` &&
    typeof createdAt === 'string' &&
    typeof createdBy === 'string' &&
    state === 'open' &&
    complete === false &&
    JSON.stringify(got) === JSON.stringify(wanted)
  )
}

/** The counts of wrk must fit the case. */
export function checkSample({ target, plan, dataset }: Entrant, sample: Sample): void {
  const { load, title } = plan
  const { requests, refused, broken, bytesPerRequest } = sample
  const subject = `${target.name} in "${title}"`
  if (broken > 0) throw new WrongResponse(`${subject}: ${broken} requests failed or got no response`)
  if (requests === 0) throw new WrongResponse(`${subject}: no request was answered`)
  const expected = load.kind === 'unknown-key' ? requests : 0
  if (refused !== expected) {
    throw new WrongResponse(`${subject}: ${refused} of ${requests} had a status of 400 or above`)
  }
  if (load.kind === 'list' && bytesPerRequest < dataset.body.length) {
    const bytes = Math.round(bytesPerRequest)
    throw new WrongResponse(`${subject}: a response has ${bytes} bytes, the list has ${dataset.body.length}`)
  }
}

function send(
  running: RunningTarget,
  method: string,
  path: string,
  { body, secret = running.secrets.unlimited }: { body?: string; secret?: string } = {},
): Promise<Response> {
  return fetch(firstUrl(running) + path, {
    method,
    headers: {
      Authorization: `Bearer ${secret}`,
      'Accept-Encoding': 'identity',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    keepalive: false,
  })
}

function expectLimitHeaders(target: Target, response: Response): void {
  const missing = LIMIT_HEADERS.filter((name) => !response.headers.has(name))
  if (missing.length === 0) return
  throw new WrongResponse(`${target.name} answers ${response.status} without ${missing.join(', ')}`)
}
