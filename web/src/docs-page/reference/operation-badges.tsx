import type { Operation, Stability } from '../contract.ts'

const STABILITY_CLASS: Readonly<Record<Stability, string>> = {
  stable: 'badge--positive',
  beta: 'badge--accent',
  experimental: 'badge--caution',
}

export const STABILITY_WORDS: Readonly<Record<Stability, string>> = {
  stable: 'Stable: you can rely on it as it is.',
  beta: 'Beta: it works and is meant to stay, but details may still change.',
  experimental: 'Experimental: its request shape may change before it becomes stable.',
}

export function MethodTag({ method }: { readonly method: string }) {
  return <span className={`method method--${method.toLowerCase()}`}>{method}</span>
}

/** How far one can rely on the operation; deprecation stands first, since it ends. */
export function OperationBadges({ operation }: { readonly operation: Operation }) {
  const { stability, isDeprecated } = operation
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
