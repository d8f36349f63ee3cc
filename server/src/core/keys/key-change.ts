import type { ApiKey } from './api-key.ts'
import { permissionText } from './permissions.ts'

/** What becomes of a key; what is not given stays. A plan comes with its limits. */
export interface KeyChange extends Partial<Pick<ApiKey, 'name' | 'permissions'>> {
  readonly allowance?: Pick<ApiKey, 'plan' | 'limits'>
  readonly expiresAt?: number | 'never'
}

/** Before and after, in words, of each part that does change. */
export function describeKeyChange(key: ApiKey, change: KeyChange): string[] {
  const { name, allowance, permissions, expiresAt } = change
  return [
    ...difference('name', key.name, name, (text) => `"${text}"`),
    ...difference('plan', key, allowance, allowanceText),
    ...difference('may', key.permissions, permissions, permissionText),
    ...difference('expires', key.expiresAt ?? 'never', expiresAt, expiryText),
  ]
}

function difference<Part>(
  what: string,
  before: Part,
  after: Part | undefined,
  inWords: (part: Part) => string,
): string[] {
  if (after === undefined || inWords(before) === inWords(after)) return []
  return [`${what}: ${inWords(before)} → ${inWords(after)}`]
}

function allowanceText({ plan, limits }: Pick<ApiKey, 'plan' | 'limits'>): string {
  return `${plan} (${limits.perMinute} a minute, ${limits.perDay} a day)`
}

function expiryText(time: number | 'never'): string {
  return time === 'never' ? time : new Date(time).toISOString()
}
