import type { Case } from './cases.ts'
import type { Dataset } from './dataset.ts'
import type { LoadFacts, Sample } from './measure.ts'
import { ORDERS_PATH, type RunningTarget, type Target } from './target.ts'

const LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
const FREE_PER_MINUTE = 60
/** A status line and headers: an answer without a body is not larger. */
const MAX_HEADER_BYTES = 2_000

/** A figure that does not mean what the table says is worse than none: the run ends here. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer'
}

/** Every target lists the same pets; all but json-server in the same bytes. */
export async function checkList(target: Target, running: RunningTarget, dataset: Dataset): Promise<void> {
  const response = await ask(target, running, { secret: running.secrets.unlimited })
  const body = await response.text()
  expectStatus(target, response, 200)
  if (target.checksKeys) expectLimitHeaders(target, response)
  const same =
    target.listEquals === 'bytes' ? body === dataset.body : JSON.stringify(JSON.parse(body)) === dataset.body
  if (same) return
  throw new WrongAnswer(
    `${target.name} lists ${dataset.pets} pets otherwise than the others: ` +
      `${body.length} bytes ${body.slice(0, 200)}… instead of ${dataset.body.length} ${dataset.body.slice(0, 200)}…`,
  )
}

/** An update is answered with the new entry. */
export async function checkUpdate(target: Target, running: RunningTarget): Promise<void> {
  const response = await fetch(`${running.url}${target.listPath}/1`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${running.secrets.unlimited}`, 'Content-Type': 'application/json' },
    body: '{"quantity":1234}',
    keepalive: false,
  })
  const body = JSON.stringify(await response.json())
  expectStatus(target, response, 200)
  if (body === '{"petId":1,"quantity":1234,"status":"available"}') return
  throw new WrongAnswer(`${target.name} answers an update with ${body}`)
}

/** An adjustment is answered with the new entries; one of whose pets is unknown changes none. */
export async function checkAdjustments(target: Target, running: RunningTarget): Promise<void> {
  await checkUpdate(target, running)
  const adjust = async (changes: string): Promise<string> => {
    const response = await fetch(`${running.url}${target.listPath}/adjustments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${running.secrets.unlimited}`, 'Content-Type': 'application/json' },
      body: `{"reason":"received","changes":[${changes}]}`,
      keepalive: false,
    })
    const body = JSON.stringify(await response.json())
    return response.ok ? `${response.status} ${body}` : String(response.status)
  }
  const expected: readonly (readonly [changes: string, answer: string])[] = [
    ['{"petId":1,"delta":1},{"petId":987654321,"delta":1}', '404'],
    ['{"petId":1,"delta":1.5}', '400'],
    ['{"petId":1,"delta":-99999}', '409'],
    ['{"petId":1,"delta":-4}', '200 {"items":[{"petId":1,"quantity":1230,"status":"available"}]}'],
  ]
  for (const [changes, wanted] of expected) {
    const got = await adjust(changes)
    if (got !== wanted) throw new WrongAnswer(`${target.name} answers ${changes} with ${got}, not ${wanted}`)
  }
}

/** More than any load orders; few enough for those who keep 32 bits. */
const PLENTY = 1_000_000_000

/** An order is answered with what was made; one of too many, of none and of an unknown pet is refused. */
export async function checkOrders(
  { name, listPath }: Target,
  running: Pick<RunningTarget, 'url' | 'secrets'>,
  petId = 1,
): Promise<void> {
  const send = async (method: string, path: string, body: string): Promise<string> => {
    const response = await fetch(running.url + path, {
      method,
      headers: { Authorization: `Bearer ${running.secrets.unlimited}`, 'Content-Type': 'application/json' },
      body,
      keepalive: false,
    })
    const { id = 0, ...rest } = (await response.json()) as Record<string, unknown>
    const isPlaced = response.headers.get('Location') === `${ORDERS_PATH}/${id}`
    const { createdAt = '', ...told } = response.status === 201 && isPlaced ? rest : {}
    const isDated = !Number.isNaN(Date.parse(String(createdAt)))
    return isDated ? `201 ${JSON.stringify(told)}` : String(response.status)
  }
  const order = (more: string) => `{"petId":${petId},"quantity":1${more}`
  const made = { petId, quantity: 1, complete: false, state: 'open' }
  const expected: readonly (readonly [method: string, path: string, body: string, answer: string])[] = [
    ['PATCH', `${listPath}/${petId}`, `{"quantity":${PLENTY}}`, '200'],
    ['POST', ORDERS_PATH, order('000000001}'), '409'],
    ['POST', ORDERS_PATH, order('.5}'), '400'],
    ['POST', ORDERS_PATH, '{"petId":987654321,"quantity":1}', '404'],
    ['POST', ORDERS_PATH, order('}'), `201 ${JSON.stringify(made)}`],
  ]
  for (const [method, path, body, wanted] of expected) {
    const got = await send(method, path, body)
    if (got !== wanted) throw new WrongAnswer(`${name} answers ${body} with ${got}, not ${wanted}`)
  }
}

/** The tag that the target answers 304 to, if it does. */
export async function findEtag(target: Target, running: RunningTarget): Promise<string | undefined> {
  const secret = running.secrets.unlimited
  const whole = await ask(target, running, { secret })
  await whole.arrayBuffer()
  const etag = whole.headers.get('etag')
  if (etag === null) return undefined
  const conditional = await ask(target, running, { secret, etag })
  await conditional.arrayBuffer()
  return conditional.status === 304 ? etag : undefined
}

/** Before each round of a flood, since a window may have ended: uses up the Free key, or sees the 401. */
export async function checkFlood(
  target: Target,
  running: RunningTarget,
  { load }: Case,
  facts: LoadFacts,
): Promise<void> {
  if (load.kind !== 'unknown-key' && load.kind !== 'used-up-key') return
  const unknown = load.kind === 'unknown-key'
  const secret = unknown ? facts.unknownSecret : running.secrets.free
  let response = await ask(target, running, { secret })
  for (let sent = 0; !unknown && response.status === 200 && sent < FREE_PER_MINUTE; sent++) {
    await response.arrayBuffer()
    response = await ask(target, running, { secret })
  }
  await response.arrayBuffer()
  expectStatus(target, response, unknown ? 401 : 429)
  expectLimitHeaders(target, response)
}

/** Each request was answered, and none refused. */
export function checkCounts(where: string, { requests, refused, broken }: Sample): void {
  if (broken > 0) throw new WrongAnswer(`${where}: ${broken} requests failed or were not answered`)
  if (requests === 0) throw new WrongAnswer(`${where}: not one request was answered`)
  if (refused > 0) {
    throw new WrongAnswer(`${where}: ${refused} of ${requests} were refused with a status of 400 or more`)
  }
}

/** What wrk counted must be what the case is about. */
export function checkSample(
  target: Target,
  loadCase: Case,
  facts: LoadFacts,
  dataset: Dataset,
  sample: Sample,
): void {
  const { requests, refused, bytesPerRequest } = sample
  const where = `${target.name} in "${loadCase.title}"`
  const wrong = (what: string): never => {
    throw new WrongAnswer(`${where}: ${what}`)
  }
  const { kind } = loadCase.load
  const isFlood = kind === 'unknown-key' || kind === 'used-up-key'
  checkCounts(where, isFlood ? { ...sample, refused: 0 } : sample)
  if (kind === 'unknown-key' && refused !== requests) wrong(`${requests - refused} of ${requests} got in`)
  // A window that ends within the round lets one minute's requests through.
  if (kind === 'used-up-key' && requests - refused > FREE_PER_MINUTE) {
    wrong(`${requests - refused} of ${requests} got in`)
  }
  if (kind === 'list' && bytesPerRequest < dataset.body.length) {
    wrong(`an answer has ${Math.round(bytesPerRequest)} bytes, the list has ${dataset.body.length}`)
  }
  if (facts.etag !== undefined && bytesPerRequest > MAX_HEADER_BYTES) {
    wrong(`an answer has ${Math.round(bytesPerRequest)} bytes, which is no 304`)
  }
}

function ask(
  target: Target,
  running: RunningTarget,
  { secret, etag }: { secret: string; etag?: string },
): Promise<Response> {
  return fetch(running.url + target.listPath, {
    headers: {
      Authorization: `Bearer ${secret}`,
      'Accept-Encoding': 'identity',
      ...(etag === undefined ? {} : { 'If-None-Match': etag }),
    },
    keepalive: false,
  })
}

function expectStatus(target: Target, response: Response, status: number): void {
  if (response.status === status) return
  throw new WrongAnswer(`${target.name} answers ${response.status} to ${response.url}, not ${status}`)
}

function expectLimitHeaders(target: Target, response: Response): void {
  const missing = LIMIT_HEADERS.filter((name) => !response.headers.has(name))
  if (missing.length === 0) return
  throw new WrongAnswer(`${target.name} answers ${response.status} without ${missing.join(', ')}`)
}
