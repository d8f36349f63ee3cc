import { type Answer, headerLines } from '../src/answer.ts'
import { type Listener, type ListenOptions, listen } from '../src/listen.ts'
import type { HttpRequest } from '../src/request.ts'
import { RequestProblem } from '../src/request-head.ts'

/** The request that the handler got, as the client sees it. */
export interface Echo {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | null>>
  /** In base64. */
  readonly body: string
}

/** The echoed headers. */
const NAMES = ['host', 'x-one', 'x-two', 'content-type', 'content-length', 'connection']

export async function echo(request: HttpRequest): Promise<Answer> {
  try {
    return echoOf(request, await request.body())
  } catch (error) {
    return problemAnswer(error)
  }
}

export function echoOf({ method, path, query, headers }: HttpRequest, body: Uint8Array): Answer {
  const told: Echo = {
    method,
    path,
    query,
    headers: Object.fromEntries(NAMES.map((name) => [name, headers.get(name)])),
    body: Buffer.from(body).toString('base64'),
  }
  return answerOf(JSON.stringify(told))
}

export function answerOf(body: Answer['body'], status = 200): Answer {
  return { status, lines: headerLines({ 'Content-Type': 'application/json' }), body }
}

const PROBLEM_STATUS = {
  malformed: 400,
  broken_off: 400,
  too_large: 413,
  timeout: 408,
  too_many_connections: 503,
} as const

/** The body is only the kind of problem. */
export function problemAnswer(error: unknown): Answer {
  if (!(error instanceof RequestProblem)) throw error
  return answerOf(error.kind, PROBLEM_STATUS[error.kind])
}

/** A real listener on a free port. */
export function listenWith(
  answer: (request: HttpRequest) => Answer | Promise<Answer>,
  options: Partial<ListenOptions> = {},
): Listener {
  return listen(
    { answer, refuse: problemAnswer },
    { host: '127.0.0.1', port: 0, flags: { host: '--host', port: '--port' }, ...options },
  )
}
