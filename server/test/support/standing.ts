import type { Answer } from './test-service.ts'

/** The three limit headers as numbers, for easy comparison. */
export function standingOf({ headers }: Answer): { limit: number; remaining: number; reset: number } {
  return {
    limit: Number(headers.get('X-RateLimit-Limit') ?? Number.NaN),
    remaining: Number(headers.get('X-RateLimit-Remaining') ?? Number.NaN),
    reset: Number(headers.get('X-RateLimit-Reset') ?? Number.NaN),
  }
}
