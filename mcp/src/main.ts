#!/usr/bin/env bun
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { PATH, serveHttp } from './http.ts'
import { createServer } from './server.ts'

const USAGE = `Usage: petstore-mcp [--http [--port 8090] [--host 127.0.0.1]]
PETSTORE_URL  the address of the API, such as http://127.0.0.1:8080/v1
PETSTORE_KEY  the API key; not with --http, where each caller sends a key: Authorization: Bearer KEY`

try {
  const { values } = parseArgs({
    options: { http: { type: 'boolean' }, port: { type: 'string' }, host: { type: 'string' } },
  })
  const baseUrl = readVariable('PETSTORE_URL')
  if (!URL.canParse(baseUrl)) throw new Error(`PETSTORE_URL must be an address, got "${baseUrl}"`)
  if (values.http === true) {
    await listen(baseUrl, Number(values.port ?? 8090), values.host ?? '127.0.0.1')
  } else {
    const apiKey = readVariable('PETSTORE_KEY')
    serveStdio(() => createServer({ baseUrl, apiKey }))
  }
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
  process.exitCode = 1
}

async function listen(baseUrl: string, port: number, host: string): Promise<void> {
  const server = await serveHttp(baseUrl, port, host)
  const { address, family, port: actualPort } = server.address() as AddressInfo
  const shownHost = family === 'IPv6' ? `[${address}]` : address
  console.error(`petstore-mcp listens on http://${shownHost}:${actualPort}${PATH}`)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
}

function readVariable(name: string): string {
  const value = process.env[name] ?? ''
  if (value === '') throw new Error(`${name} is not set`)
  return value
}
