import type { SearchLoad } from './cases.ts'
import { isFound } from './catalogue.ts'
import { WrongAnswer } from './checks.ts'
import { type Dataset, petAt } from './dataset.ts'
import { type RunningTarget, SEARCH_PATH, type Target } from './target.ts'

const PAGE = 100

/** Beside what the peers tell of a pet. */
const TOLD_BY_US_ALONE = /,"ownLowStockAt":\d+|,"lowSince":"[^"]*"/g

/** Every search is answered with the same bytes: the first hundred that fit, with their stock; and a link to the next ones. */
export async function checkSearches(
  target: Target,
  running: RunningTarget,
  dataset: Dataset,
  { queries }: SearchLoad,
): Promise<void> {
  for (const query of queries) {
    const response = await fetch(`${running.url}${SEARCH_PATH}?${query}`, {
      headers: { Authorization: `Bearer ${running.secrets.unlimited}` },
      keepalive: false,
    })
    const body = (await response.text()).replaceAll(TOLD_BY_US_ALONE, '')
    const wanted = firstPage(dataset, query)
    if (response.status === 200 && body === wanted && response.headers.get('link')?.includes('next')) continue
    throw new WrongAnswer(
      `${target.name} answers ${query} with ${response.status} ${body.slice(0, 300)}… instead of ${wanted.slice(0, 300)}…`,
    )
  }
}

function firstPage({ pets, catalogueAt }: Dataset, query: string): string {
  if (catalogueAt === undefined) throw new Error('only a store with a catalogue can be searched')
  const found: unknown[] = []
  for (let index = 0; index < pets && found.length < PAGE; index++) {
    const pet = catalogueAt(index)
    if (!isFound(pet, query)) continue
    const { petId, quantity, status } = petAt(index)
    const { name, categoryId, lowStockAt } = pet
    const stock = { status, quantity, reserved: 0, available: quantity }
    found.push({ petId, name, categoryId, ...stock, lowStockAt })
  }
  return JSON.stringify(found)
}
