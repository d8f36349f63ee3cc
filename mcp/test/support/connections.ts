import { fileURLToPath } from 'node:url'
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { stopAfterTest } from '../../../server/test/support/stop-after-test.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
export const AGENT = 'shop-assistant'
/** The protocols that clients speak. */
export const PROTOCOLS = ['2025-11-25', '2026-07-28'] as const
export type Protocol = (typeof PROTOCOLS)[number]
export type Connect = (service: Address, protocol: Protocol) => Promise<Client>

/** Where the service is, and a key. */
export type Address = Pick<TestService, 'address' | 'key'>

/** Over standard input and output. */
export function connectStdio(service: Address, protocol: Protocol): Promise<Client> {
  return connectProgram([process.execPath, MAIN], service, protocol)
}

export async function connectProgram(
  [command = '', ...args]: readonly string[],
  service: Address,
  protocol: Protocol,
): Promise<Client> {
  const env = { PETSTORE_URL: `${service.address}/v1`, PETSTORE_KEY: service.key }
  return connect(new StdioClientTransport({ command, args, env }), protocol)
}

/** Over streamable HTTP, with a server of its own. */
export async function connectHttp(service: Address, protocol: Protocol): Promise<Client> {
  return connectTo(await startHttp(service), protocol, { authProvider: { token: async () => service.key } })
}

export async function connectTo(
  url: string,
  protocol: Protocol,
  options: StreamableHTTPClientTransportOptions,
): Promise<Client> {
  // The types of the SDK lack `undefined` where its classes have it.
  return connect(new StreamableHTTPClientTransport(new URL(url), options) as Transport, protocol)
}

async function connect(transport: Transport, protocol: Protocol): Promise<Client> {
  const mode = protocol === '2025-11-25' ? 'legacy' : { pin: protocol }
  const client = new Client({ name: AGENT, version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  stopAfterTest(() => client.close())
  return client
}

/** Starts the HTTP server of the sources, and returns its address. */
export async function startHttp({ address }: Pick<Address, 'address'>): Promise<string> {
  const program = Bun.spawn([process.execPath, MAIN, '--http', '--port', '0'], {
    env: { PETSTORE_URL: `${address}/v1` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  stopAfterTest(() => {
    program.kill()
    return program.exited
  })
  let output = ''
  for await (const bytes of program.stderr) {
    output += new TextDecoder().decode(bytes)
    const [, url] = /listens on (\S+)/.exec(output) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`petstore-mcp --http does not listen: ${output}`)
}

export function newKey(): { readonly idempotencyKey: string } {
  return { idempotencyKey: crypto.randomUUID() }
}

/** Calls a tool, which must succeed, and returns its result. */
export async function callTool<Result>(client: Client, name: string, args: object): Promise<Result> {
  const result = await tryTool(client, name, args)
  if (result.isError === true) throw new Error(`${name} failed: ${textOf(result)}`)
  return result.structuredContent as Result
}

/** Calls a tool, which must refuse, and returns its error. */
export async function refusalOf(client: Client, name: string, args: object): Promise<Refusal> {
  const result = await tryTool(client, name, args)
  if (result.isError !== true) throw new Error(`${name} succeeded: ${textOf(result)}`)
  return JSON.parse(textOf(result))
}

export function tryTool(client: Client, name: string, args: object): Promise<CallToolResult> {
  return client.callTool({ name, arguments: { ...args } })
}

export function textOf({ content }: CallToolResult): string {
  const [first] = content
  if (first?.type !== 'text') throw new Error('the result has no text')
  return first.text
}

export interface Refusal {
  readonly code: string
  readonly message: string
  readonly status?: number
  readonly field?: string
  readonly details: readonly { readonly petId?: string; readonly available?: number }[]
  readonly next: string
}

/** The result of a tool that adjusts the stock. Ids are texts. */
export interface Adjusted {
  readonly id: string
  readonly reason: string
  readonly reference: string
  readonly note?: string
  readonly replayed: boolean
  readonly items: readonly { readonly petId: string; readonly quantity: number }[]
}
