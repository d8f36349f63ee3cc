import { randomUUID } from 'node:crypto'
import { createServer as createNodeServer, type RequestListener, type Server } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import * as mcp from '@modelcontextprotocol/server'
import { cleanName, createServer } from './server.ts'

export const PATH = '/mcp'
const SESSION_HEADER = 'Mcp-Session-Id'
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost']
const MISSING_KEY = new mcp.OAuthError(mcp.OAuthErrorCode.InvalidToken, 'Send Authorization: Bearer YOUR_KEY')

/** Serves streamable HTTP without state. The bearer key of a request is the key of its calls to the service. */
export function serveHttp(baseUrl: string, port: number, host: string): Promise<Server> {
  const handler = mcp.createMcpHandler(({ authInfo }) =>
    createServer({ baseUrl, apiKey: authInfo?.token ?? '' }),
  )
  const answer = async (request: Request): Promise<Response> => {
    const refusal = refusalOf(request, host)
    if (refusal !== undefined) return refusal
    const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.get('Authorization') ?? '') ?? []
    if (token === undefined) return mcp.bearerAuthChallengeResponse(MISSING_KEY)
    const session = await newSession(request)
    const authInfo = { token, clientId: sessionName(request), scopes: [] }
    const response = await handler.fetch(request, { authInfo })
    if (session !== undefined) response.headers.set(SESSION_HEADER, session)
    return response
  }
  // The types of the adapter lack the `undefined` of Node's.
  const server = createNodeServer(toNodeHandler({ fetch: answer }) as RequestListener)
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve(server))
  })
}

/** Refuses what pages of other sites send, also through a name that leads to this machine. */
function refusalOf(request: Request, host: string): Response | undefined {
  if (new URL(request.url).pathname !== PATH) return new Response(null, { status: 404 })
  const wrongHost = LOOPBACK.includes(host)
    ? mcp.hostHeaderValidationResponse(request, mcp.localhostAllowedHostnames())
    : undefined
  return wrongHost ?? mcp.originValidationResponse(request, mcp.localhostAllowedOrigins())
}

/**
 * Before the protocol of 2026, a client sends its name only once. The session id, which it sends with each later request,
 * contains the name, so that it need not be stored.
 */
async function newSession(request: Request): Promise<string | undefined> {
  const copy = request.clone()
  const body: unknown = await copy.json().catch(() => undefined)
  if (!mcp.isInitializeRequest(body)) return undefined
  const name = cleanName(body.params.clientInfo.name)
  return `${randomUUID()}.${Buffer.from(name).toString('base64url')}`
}

function sessionName({ headers }: Request): string {
  const [, name = ''] = headers.get(SESSION_HEADER)?.split('.') ?? []
  return Buffer.from(name, 'base64url').toString()
}
