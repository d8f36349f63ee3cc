/** Writes openapi.json (`--write`), or fails if it differs from the operations (`--check`). */

import { buildContract } from '../src/http/contract.ts'
import { readConfig } from '../src/service/config.ts'

const MAX_LINE = 140
const path = new URL('../../openapi.json', import.meta.url).pathname

const { petSunset } = readConfig({}, {})
/** The addresses of a service on this machine. A running service shows its own addresses. */
const addresses = { baseUrl: 'http://127.0.0.1:8080/v1', stagingBaseUrl: 'http://127.0.0.1:8081/v1' }
const contract = `${format(buildContract({ ...addresses, sunset: petSunset }))}\n`

if (process.argv.includes('--write')) {
  await Bun.write(path, contract)
  console.log('wrote openapi.json')
} else {
  const file = Bun.file(path)
  const checkedIn = (await file.exists()) ? await file.text() : ''
  if (checkedIn !== contract) {
    console.error('openapi.json differs from the operations: run "npm run contract" and commit it')
    process.exit(1)
  }
  console.log('openapi.json matches the operations')
}

/** The JSON of the value. What fits into a line takes one, because there are thousands of short objects. */
function format(value: unknown, indent = ''): string {
  const line = formatLine(value)
  if (indent.length + line.length <= MAX_LINE || typeof value !== 'object' || value === null) return line
  const inner = `${indent} `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map((part) => format(part, inner))
    : membersOf(value).map(([name, part]) => `${JSON.stringify(name)}: ${format(part, inner)}`)
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`
}

function formatLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(formatLine).join(', ')}]`
  const members = membersOf(value).map(([name, part]) => `${JSON.stringify(name)}: ${formatLine(part)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function membersOf(value: object): [name: string, part: unknown][] {
  return Object.entries(value).filter(([, part]) => part !== undefined)
}
