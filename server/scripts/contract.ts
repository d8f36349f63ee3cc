/** Writes openapi.json (`--write`), or fails when it is not what the operations say (`--check`). */

import { buildContract } from '../src/http/contract.ts'
import { readConfig } from '../src/service/config.ts'

const path = new URL('../../openapi.json', import.meta.url).pathname

const { baseUrl, stagingBaseUrl, petSunset } = readConfig({}, {})
const contract = `${JSON.stringify(buildContract({ baseUrl, stagingBaseUrl, sunset: petSunset }), null, 2)}\n`

if (process.argv.includes('--write')) {
  await Bun.write(path, contract)
  console.log('openapi.json is written')
} else {
  const file = Bun.file(path)
  const checkedIn = (await file.exists()) ? await file.text() : ''
  if (checkedIn !== contract) {
    console.error('openapi.json has drifted from the operations: run "npm run contract" and commit it')
    process.exit(1)
  }
  console.log('openapi.json agrees with the operations')
}
