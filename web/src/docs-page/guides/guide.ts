import type { CodeSample } from '../samples/code-block.tsx'
import type { Language } from '../samples/code-tokens.ts'

/** A guide as web/guides.ts compiles it from Markdown. */
export interface Guide {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Further words that the search finds the guide by. */
  readonly keywords: string
  readonly parts: readonly GuidePart[]
}

export type GuidePart =
  | { readonly type: 'heading'; readonly title: string }
  | { readonly type: 'html'; readonly html: string }
  | {
      readonly type: 'code'
      readonly title: string
      readonly language: Language
      readonly code: string
    }
  | { readonly type: 'samples'; readonly title: string; readonly samples: readonly CodeSample[] }
  /** A table that the page draws from the contract. */
  | { readonly type: 'table'; readonly name: TableName }

export const TABLE_NAMES = [
  'plans',
  'bans',
  'limit-headers',
  'error-codes',
  'event-kinds',
  'webhook-types',
  'client-methods',
] as const

export type TableName = (typeof TABLE_NAMES)[number]

/** The address of the service in the samples. The page replaces it with its own. */
export const SAMPLE_BASE_URL = 'http://127.0.0.1:8080/v1'
