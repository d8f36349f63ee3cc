/** How many requests a key may make in its two windows. */
export interface Limits {
  readonly perMinute: number
  readonly perDay: number
}

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Enterprise is missing on purpose: its limits are agreed for each key. */
export const PLAN_LIMITS: Readonly<Record<Exclude<Plan, 'enterprise'>, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
}
