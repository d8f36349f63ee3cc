import { PLAN_LIMITS, PLANS } from '../core/keys/plans.ts'
import { DEMO_ENTERPRISE_LIMITS, DEMO_SECRETS } from '../service/demo.ts'

export interface BannerFacts {
  readonly address: string
  /** `undefined` where metrics are off. */
  readonly metrics: string | undefined
  readonly databaseUrl: string
  readonly demo: boolean
}

/** What the one who started the service sees: where it is, how to get in, a line to copy. */
export function banner({ address, metrics, databaseUrl, demo }: BannerFacts): string {
  const lines = [
    '',
    `  Petstore Inventory is running${demo ? ' with the demo store' : ''}.`,
    '',
    `  Staff page  ${address}/`,
    `  API docs    ${address}/docs`,
    `  Interface   ${address}/v1`,
    `  Contract    ${address}/openapi.json`,
    ...(metrics === undefined ? [] : [`  Metrics     ${metrics}`]),
    `  Data        ${databaseUrl.replace(/^sqlite:/, '')}`,
    '',
  ]
  if (!demo)
    return [...lines, '  Make a key:  petstore keys create --name "My shop" --plan pro', ''].join('\n')

  const number = (value: number, width: number) => value.toLocaleString('en-US').padStart(width)
  lines.push(`  ${'Key'.padEnd(22)}${'a minute'.padStart(10)}${'a day'.padStart(16)}`)
  for (const plan of PLANS) {
    const { perMinute, perDay } = plan === 'enterprise' ? DEMO_ENTERPRISE_LIMITS : PLAN_LIMITS[plan]
    lines.push(`  ${DEMO_SECRETS[plan].padEnd(22)}${number(perMinute, 10)}${number(perDay, 16)}`)
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
