import { PLANS } from '../core/keys/plans.ts'
import type { RunningService } from '../service/compose.ts'
import { type Config, reachableAddress } from '../service/config.ts'
import { DEMO_LIMITS, DEMO_SECRETS } from '../service/demo.ts'
import { grouped } from './output.ts'
import { databaseName } from './with-store.ts'

type Ports = Pick<RunningService, 'port' | 'metricsPort'>

export interface Start {
  readonly demo: boolean
  /** Whether the database was made just now. */
  readonly isNew: boolean
}

/** Where this machine reaches the service, and its metrics where they are on. */
export function addressesOf(config: Config, { port, metricsPort }: Ports) {
  return {
    address: reachableAddress(config.tlsCert === undefined ? 'http' : 'https', config.host, port),
    metrics:
      metricsPort === undefined
        ? undefined
        : `${reachableAddress('http', config.metricsHost, metricsPort)}/metrics`,
  }
}

/** What the one who started the service sees: where it is, how to get in, a line to copy. */
export function banner(config: Config, ports: Ports, { demo, isNew }: Start): string {
  const { address, metrics } = addressesOf(config, ports)
  const lines = [
    '',
    `  Petstore Inventory is running${demo ? ' with the demo store' : ''}.`,
    '',
    `  Staff page  ${address}/`,
    `  API docs    ${address}/docs`,
    `  Interface   ${address}/v1`,
    `  Contract    ${address}/openapi.json`,
    ...(metrics === undefined ? [] : [`  Metrics     ${metrics}`]),
    `  Data        ${databaseName(config)}${isNew ? ' (new)' : ''}`,
    '',
  ]
  if (!demo)
    return [...lines, '  Make a key:  petstore keys create --name "My shop" --plan pro', ''].join('\n')

  lines.push(`  ${'Key'.padEnd(22)}${'a minute'.padStart(10)}${'a day'.padStart(16)}`)
  for (const plan of PLANS) {
    const { perMinute, perDay } = DEMO_LIMITS[plan]
    const limits = `${grouped(perMinute).padStart(10)}${grouped(perDay).padStart(16)}`
    lines.push(`  ${DEMO_SECRETS[plan].padEnd(22)}${limits}`)
  }
  return [
    ...lines,
    '',
    '  Try it:',
    `  curl -H "Authorization: Bearer ${DEMO_SECRETS.free}" ${address}/v1/inventory`,
    '',
    '  Ctrl-C stops it; the data stays.',
    '',
  ].join('\n')
}
