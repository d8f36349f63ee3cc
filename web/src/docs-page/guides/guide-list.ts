import { guide as changeStockSafely } from './change-stock-safely.md'
import { guide as concurrency } from './concurrency.md'
import { guide as errors } from './errors.md'
import { guide as events } from './events.md'
import type { Guide } from './guide.ts'
import { guide as idsAndJson } from './ids-and-json.md'
import { guide as keepTheCatalogue } from './keep-the-catalogue.md'
import { guide as keysAndPeople } from './keys-and-people.md'
import { guide as limits } from './limits.md'
import { guide as neverOversell } from './never-oversell.md'
import { guide as typescriptClient } from './typescript-client.md'
import { guide as webhooks } from './webhooks.md'

/** In the order in which a newcomer needs them. */
export const GUIDES: readonly Guide[] = [
  keysAndPeople,
  limits,
  errors,
  changeStockSafely,
  neverOversell,
  keepTheCatalogue,
  concurrency,
  events,
  webhooks,
  idsAndJson,
  typescriptClient,
]
