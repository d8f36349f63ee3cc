/** Writes openapi.json (`--write`), or fails if it differs from the operations (`--check`). */

import { buildContract } from '../src/http/contract.ts'
import { readConfig } from '../src/service/config.ts'

const path = new URL('../../openapi.json', import.meta.url).pathname

const { petSunset } = readConfig({}, {})
/** The addresses of a service on this machine. A running service shows its own addresses. */
const addresses = { baseUrl: 'http://127.0.0.1:8080/v1', stagingBaseUrl: 'http://127.0.0.1:8081/v1' }
const json = JSON.stringify(buildContract({ ...addresses, sunset: petSunset }), null, 1)
const MAX_LINE = 110
/** Short objects without objects, such as references, and lists of words take one line each. There are hundreds of them. */
const compact = json
  .replaceAll(/\{(?:\s+"[-$\w]+": (?:"[^"]*"|[\w.]+),?)+\s+\}/g, (object) => {
    const line = object.replaceAll(/\s*\n\s*/g, ' ')
    return line.length <= MAX_LINE ? line : object
  })
  .replaceAll(/\[\s+("\w+"(?:,\s+"\w+")*)\s+\]/g, (_, words: string) => `[${words.replaceAll(/\s+/g, ' ')}]`)
const contract = `${compact}\n`

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
