import { type Clock, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Operation } from './operation.ts'

/** RFC 9745 and RFC 8594: since when, until when, and where to read about it. */
export function deprecationHeaders(operation: Operation, sunset: Date): Readonly<Record<string, string>> {
  if (operation.deprecatedSince === undefined) return {}
  return {
    Deprecation: `@${operation.deprecatedSince.getTime() / SECOND}`,
    Sunset: sunset.toUTCString(),
    Link: [
      '</openapi.json>; rel="deprecation"; type="application/json"',
      '</openapi.json>; rel="sunset"; type="application/json"',
      ...(operation.successor === undefined ? [] : [`<${operation.successor}>; rel="successor-version"`]),
    ].join(', '),
  }
}

export function refuseAfterSunset(operation: Operation, sunset: Date, clock: Clock): void {
  if (operation.deprecatedSince === undefined || clock() < sunset.getTime()) return
  throw new ServiceError(
    'gone',
    `${operation.method} ${operation.path} ended on ${sunset.toISOString().slice(0, 10)}; /openapi.json lists what is offered now`,
  )
}
