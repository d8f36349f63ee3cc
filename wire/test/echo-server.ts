import { type Listener, type ListenOptions, listen } from '../src/listen.ts'
import { type HttpRequest, RequestProblem } from '../src/request.ts'
import { type HttpResponse, headerLines } from '../src/response.ts'

/** The request as the handler received it. */
export interface Echo {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | null>>
  /** In base64. */
  readonly body: string
}

const ECHOED_HEADERS = ['host', 'x-one', 'x-two', 'content-type', 'content-length', 'connection']

export async function echo(request: HttpRequest): Promise<HttpResponse> {
  try {
    return echoOf(request, await request.body())
  } catch (error) {
    return problemAnswer(error)
  }
}

export function echoOf({ method, path, query, headers }: HttpRequest, body: Uint8Array): HttpResponse {
  const seen: Echo = {
    method,
    path,
    query,
    headers: Object.fromEntries(ECHOED_HEADERS.map((name) => [name, headers.get(name)])),
    body: Buffer.from(body).toString('base64'),
  }
  return answerOf(JSON.stringify(seen))
}

export function answerOf(body: HttpResponse['body'], status = 200): HttpResponse {
  return { status, lines: headerLines({ 'Content-Type': 'application/json' }), body }
}

const PROBLEM_STATUS = {
  malformed: 400,
  incomplete: 400,
  too_large: 413,
  timeout: 408,
  too_many_connections: 503,
} as const

/** A response with the kind of the problem as its body. */
export function problemAnswer(error: unknown): HttpResponse {
  if (!(error instanceof RequestProblem)) throw error
  return answerOf(error.kind, PROBLEM_STATUS[error.kind])
}

/** Starts a real listener on a free port. */
export function listenWith(
  answer: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  options: Partial<ListenOptions> = {},
): Listener {
  return listen(
    { answer, refuse: problemAnswer },
    { host: '127.0.0.1', port: 0, flags: { host: '--host', port: '--port' }, ...options },
  )
}
