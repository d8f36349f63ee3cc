/** The duration of a request, and its response. */
export interface Sample {
  readonly name: string
  readonly ms: number
  readonly status: number
}

export interface Answered extends Sample {
  readonly headers: Headers
  readonly count: number
}

/** Sends one request and reads the whole response. `count` is the length of the array in it. */
export async function timed(
  name: string,
  address: string,
  key: string,
  init: RequestInit & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answered> {
  const began = performance.now()
  const response = await fetch(address, {
    ...init,
    headers: { Authorization: `Bearer ${key}`, ...init.headers },
  })
  const text = await response.text()
  const ms = performance.now() - began
  const body: unknown = response.ok && text !== '' ? JSON.parse(text) : undefined
  return {
    name,
    ms,
    status: response.status,
    headers: response.headers,
    count: Array.isArray(body) ? body.length : 0,
  }
}

/** The path of the next page, from the Link header. */
export function nextPath({ headers }: Answered): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
}

export function quantile(samples: readonly Sample[], share: number): number {
  const sorted = samples.map(({ ms }) => ms).sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function summary(samples: readonly Sample[]): string {
  const parts = [
    `median ${quantile(samples, 0.5).toFixed(1)} ms`,
    `99th percentile ${quantile(samples, 0.99).toFixed(1)} ms`,
    `slowest ${quantile(samples, 1).toFixed(1)} ms`,
    `${samples.length} requests`,
  ]
  return parts.join(', ')
}

export function slowest(samples: readonly Sample[], count: number): string {
  return samples
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, count)
    .map(({ name, ms }) => `${name} (${ms.toFixed(1)} ms)`)
    .join(', ')
}

/** A violation for each kind of unexpected response. */
export function unexpected(samples: readonly Sample[], expected: readonly number[]): string[] {
  const counts = new Map<string, number>()
  for (const { name, status } of samples) {
    if (expected.includes(status)) continue
    const what = `${name.split(' ')[0]} was answered with ${status}`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts].map(([what, times]) => `${what}, ${times} times`)
}
