import type { Operation } from '../contract.ts'

type ByStability = Readonly<Record<Operation['stability'], string>>

const STABILITY_CLASS: ByStability = {
  stable: 'badge--positive',
  beta: 'badge--accent',
  experimental: 'badge--caution',
}

export const STABILITY_WORDS: ByStability = {
  stable: 'Stable: it does not change.',
  beta: 'Beta: it is meant to stay, but details may change.',
  experimental: 'Experimental: its request shape may change before it becomes stable.',
}

const METHOD_TONES: Readonly<Record<string, string>> = {
  POST: 'caution',
  PATCH: 'caution',
  DELETE: 'negative',
}

export function MethodTag({ method }: { readonly method: string }) {
  return (
    <span className={`badge badge--plain badge--${METHOD_TONES[method] ?? 'accent'} method`}>{method}</span>
  )
}

export function OperationBadges({ operation: { stability, sunset } }: { readonly operation: Operation }) {
  const isDeprecated = sunset !== undefined
  return (
    <>
      {isDeprecated && <span className="badge badge--negative">deprecated</span>}
      <span
        className={`badge ${isDeprecated ? 'badge--neutral' : STABILITY_CLASS[stability]}`}
        title={STABILITY_WORDS[stability]}
      >
        {stability}
      </span>
    </>
  )
}

const PHRASES: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export function statusPhrase(status: number): string {
  return PHRASES[status] ?? ''
}

export function StatusTag({ status }: { readonly status: number }) {
  const tone = status < 300 ? 'positive' : status < 400 ? 'neutral' : status < 500 ? 'caution' : 'negative'
  return <span className={`badge badge--plain badge--${tone} status-tag`}>{status}</span>
}
