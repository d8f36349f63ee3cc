import * as mcp from '@modelcontextprotocol/server'
import { isPetstoreError, PetstoreClient, type PetstoreClientOptions, stringify } from '@petstore/client'
import openapi from '../../openapi.json' with { type: 'json' }
import manifest from '../package.json' with { type: 'json' }
import { type ObjectSchema, readIds, type Schema } from './contract.ts'
import { describeError } from './failures.ts'
import { MAX_AGENT_LENGTH, TOOLS, type Tool } from './tools.ts'

type Shop = Pick<PetstoreClientOptions, 'baseUrl' | 'apiKey'>
type Envelope = { readonly [mcp.CLIENT_INFO_META_KEY]?: mcp.Implementation }
type Arguments = { readonly idempotencyKey?: string }

const INSTRUCTIONS = `The stock of a shop. A pet is any article of the shop. Ids are texts of digits.
Open orders reserve some of the units on the shelf; the others are available.
Every change needs an idempotencyKey: a new random text, such as a UUID, for each change that the user wants.
If the answer to a change was lost, repeat the call with the same arguments and the same idempotencyKey.`

/** A call ends within 55 s: clients of MCP give up after 60 s, and would not see whether a change was made. */
const TIME_LIMITS = { timeout: 15_000, totalTimeout: 40_000 }

const keyParameter = openapi.components.parameters.IdempotencyKey
const IDEMPOTENCY_KEY = { ...keyParameter.schema, description: keyParameter.description }
const REPLAYED = {
  type: 'boolean',
  description: 'True if an earlier call with this idempotencyKey made the change, and this call made none.',
}

/** Compiled once, although each request over HTTP has a server of its own. */
const SERVED_TOOLS = TOOLS.map((tool) => {
  const { description, effect, input, output } = tool
  const isWrite = effect !== 'reads'
  const inputSchema = isWrite ? withField(input, 'idempotencyKey', IDEMPOTENCY_KEY) : input
  const outputSchema = isWrite ? withField(output, 'replayed', REPLAYED) : output
  const config = {
    description,
    inputSchema: mcp.fromJsonSchema<Arguments>({ ...inputSchema, additionalProperties: false }),
    outputSchema: mcp.fromJsonSchema({ ...outputSchema }),
    annotations: {
      readOnlyHint: !isWrite,
      destructiveHint: effect === 'takes',
      idempotentHint: true,
      openWorldHint: false,
    },
  }
  return { tool, config }
})

/** A server for one connection or one request. */
export function createServer(shop: Shop): mcp.McpServer {
  const { name, version } = manifest
  const server = new mcp.McpServer({ name, version }, { instructions: INSTRUCTIONS })
  for (const { tool, config } of SERVED_TOOLS) {
    server.registerTool(tool.name, config, (args, context) =>
      callTool(shop, tool, args, agentOf(server, context), context.mcpReq.signal),
    )
  }
  registerResources(server, shop)
  return server
}

/** The name of the client: of this request, of this connection, or of the session over HTTP. */
function agentOf({ server }: mcp.McpServer, { mcpReq, http }: mcp.ServerContext): string {
  // The SDK has checked the envelope, whose type is empty.
  const { [mcp.CLIENT_INFO_META_KEY]: client }: Envelope = mcpReq.envelope ?? {}
  return cleanName((client ?? server.getClientVersion())?.name ?? http?.authInfo?.clientId ?? '')
}

async function callTool(
  shop: Shop,
  { input, effect, run }: Tool,
  { idempotencyKey, ...args }: Arguments,
  agent: string,
  signal: AbortSignal,
): Promise<mcp.CallToolResult> {
  let replayed = false
  const client = new PetstoreClient({
    ...shop,
    ...TIME_LIMITS,
    // A later attempt may get the answer to an earlier attempt of this call.
    onResponse: ({ attempt, headers }) => {
      replayed = attempt === 1 && headers.get('Idempotency-Replayed') === 'true'
    },
  })
  try {
    const call = { agent, options: { signal, idempotencyKey } }
    const result = await run(client, readIds(input, args) as never, call)
    const text = stringify(effect === 'reads' ? result : { ...result, replayed })
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) }
  } catch (error) {
    if (!isPetstoreError(error)) throw error
    return { content: [{ type: 'text', text: describeError(error) }], isError: true }
  }
}

function registerResources(server: mcp.McpServer, shop: Shop): void {
  const client = new PetstoreClient({ ...shop, ...TIME_LIMITS })
  const mimeType = 'application/json'
  const register = (kind: string, description: string, find: (id: bigint) => Promise<object>) => {
    const template = new mcp.ResourceTemplate(`petstore://${kind}/{id}`, { list: undefined })
    const metadata = { description, mimeType }
    server.registerResource(kind, template, metadata, async ({ href: uri }, { id }) => {
      try {
        return { contents: [{ uri, mimeType, text: stringify(await find(BigInt(String(id)))) }] }
      } catch (error) {
        const isUnknown = isPetstoreError(error, 'not_found') || error instanceof SyntaxError
        throw isUnknown ? new mcp.ResourceNotFoundError(uri) : error
      }
    })
  }
  register('pets', 'A pet and its stock.', async (id) => {
    const [pet, stock] = await Promise.all([client.pets.get(id), client.inventory.availability(id)])
    return { ...pet, stock }
  })
  register('orders', 'An order in any state.', (id) => client.orders.get(id))
  const contract = { description: 'The API as OpenAPI. Its ids are integers of 64 bits.', mimeType }
  server.registerResource('contract', 'petstore://contract', contract, ({ href: uri }) => ({
    contents: [{ uri, mimeType, text: JSON.stringify(openapi) }],
  }))
}

function withField(record: ObjectSchema, name: string, field: Schema): ObjectSchema {
  const properties = { ...record.properties, [name]: field }
  return { ...record, properties, required: [...record.required, name] }
}

/** The name on one line and without control characters, as references must be. */
export function cleanName(name: string): string {
  const line = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return Array.from(line).slice(0, MAX_AGENT_LENGTH).join('') || 'an MCP client'
}
