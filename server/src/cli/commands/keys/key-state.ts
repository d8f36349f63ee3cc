import { type ApiKey, keyState } from '../../../core/keys/api-key.ts'
import type { BanRecord } from '../../../core/limits/limit-store.ts'

/** In a word or two: active, expired, revoked, or banned and until when. */
export function stateOf(key: ApiKey, bans: readonly BanRecord[], now: number): string {
  const state = keyState(key, now)
  if (state !== 'active') return state
  const ban = bans.findLast(
    ({ keyId, endsAt, liftedAt }) => keyId === key.id && endsAt > now && liftedAt === undefined,
  )
  return ban === undefined ? 'active' : `banned until ${new Date(ban.endsAt).toISOString().slice(11, 19)}`
}
