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
  if (response.status === 200 && body === '{"petId":1,"quantity":1234,"status":"available"}') return
  throw new WrongResponse(`${target.name} answers an update with ${response.status} ${body}`)
}

/** An adjustment changes all of its pets or none. */
async function checkAdjustments(target: Target, running: RunningTarget): Promise<void> {
  await checkUpdate(target, running)
  const expected: readonly (readonly [changes: string, response: string])[] = [
    ['{"petId":1,"delta":1},{"petId":987654321,"delta":1}', '404'],
    ['{"petId":1,"delta":1.5}', '400'],
    ['{"petId":1,"delta":-99999}', '409'],
    ['{"petId":1,"delta":-4}', '200 {"items":[{"petId":1,"quantity":1230,"status":"available"}]}'],
  ]
  for (const [changes, wanted] of expected) {
    const body = `{"reason":"received","changes":[${changes}]}`
    const response = await send(running, 'POST', `${LIST_PATH}/adjustments`, { body })
    const content = JSON.stringify(await response.json())
    const got = response.ok ? `${response.status} ${content}` : String(response.status)
    if (got !== wanted) throw new WrongResponse(`${target.name} answers ${body} with ${got}, not ${wanted}`)
  }
}

/** Leaves pet 1 with more units than any load orders. */
async function checkOrders(target: Target, running: RunningTarget): Promise<void> {
  const order = (quantity: number, petId = 1) => JSON.stringify({ petId, quantity })
  const expected: readonly (readonly [method: string, path: string, body: string, status: number])[] = [
    ['PATCH', `${LIST_PATH}/1`, `{"quantity":${PLENTY}}`, 200],
    ['POST', ORDERS_PATH, order(PLENTY + 1), 409],
    ['POST', ORDERS_PATH, order(1.5), 400],
    ['POST', ORDERS_PATH, order(1, 987654321), 404],
    ['POST', ORDERS_PATH, order(1), 201],
  ]
  for (const [method, path, body, status] of expected) {
    const response = await send(running, method, path, { body })
    const { id, createdAt, createdBy, ...rest } = (await response.json()) as Record<string, unknown>
    const content = JSON.stringify(rest)
    const isWanted =
      status !== 201 ||
      (response.headers.get('Location') === `${ORDERS_PATH}/${id}` &&
        typeof createdAt === 'string' &&
        typeof createdBy === 'string' &&
        content === '{"petId":1,"quantity":1,"complete":false,"state":"open"}')
    if (response.status === status && isWanted) continue
    throw new WrongResponse(
      `${target.name} answers ${body} with ${response.status} ${content}, expected ${status}`,
    )
  }
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
