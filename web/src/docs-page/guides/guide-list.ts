import { changeStockGuide } from './change-stock-guide.tsx'
import { clientGuide } from './client-guide.tsx'
import { concurrencyGuide } from './concurrency-guide.tsx'
import { errorsGuide } from './errors-guide.tsx'
import { eventsGuide } from './events-guide.tsx'
import type { Guide } from './guide.ts'
import { idsGuide } from './ids-guide.tsx'
import { keepCatalogGuide } from './keep-catalog-guide.tsx'
import { limitsGuide } from './limits-guide.tsx'
import { neverOversellGuide } from './never-oversell-guide.tsx'
import { webhooksGuide } from './webhooks-guide.tsx'

/** In the order in which a newcomer needs them. */
export const GUIDES: readonly Guide[] = [
  limitsGuide,
  errorsGuide,
  changeStockGuide,
  neverOversellGuide,
  keepCatalogGuide,
  concurrencyGuide,
  eventsGuide,
  webhooksGuide,
  idsGuide,
  clientGuide,
]
