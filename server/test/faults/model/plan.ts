import { asText, failure, type Outcome } from './outcome.ts'
import type { Sender, TagChoice } from './steps.ts'
import type { Condition } from './tags.ts'
import { type ModelKey, type ModelWorld, PET_IDS } from './world.ts'

/** A request, and what the model does with it once it is admitted. */
export interface Plan {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** If it differs from that of the step. */
  readonly sender?: Sender
  answer(key: ModelKey): Outcome
}

export interface Setting {
  readonly world: ModelWorld
  readonly sender: Sender
  readonly tags: TagChoice
  readonly isHead: boolean
  /** The number of an Idempotency-Key, if one is sent. */
  readonly idempotencyKey: number | undefined
  /** The time of the requested instance. */
  readonly now: number
}

export function petIdOf(number: number): bigint {
  return PET_IDS[number % PET_IDS.length] ?? 0n
}

export function given(name: string, { header }: Condition): Readonly<Record<string, string>> {
  return header === undefined ? {} : { [name]: header }
}

/** Reads a resource that may exist or not, or be unchanged for the caller. */
export function look(
  { world, tags, isHead }: Setting,
  path: string,
  resource: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  facts: Partial<Outcome> = {},
): Plan {
  const content = asText([body, facts.next === undefined, facts.shown?.places])
  const condition = world.tags.condition(tags, resource, content, true)
  return {
    method: isHead ? 'HEAD' : 'GET',
    path,
    headers: { ...headers, ...given('If-None-Match', condition) },
    answer: () => {
      if (body === undefined) return failure(404)
      const tagged = { resource, content }
      return condition.holds ? { ...facts, status: 304, tagged } : { ...facts, status: 200, body, tagged }
    },
  }
}
