import { test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { compileGuides } from '../../guides.ts'
import { SAMPLE_BASE_URL } from '../../src/docs-page/guides/guide.ts'
import { KEY_PLACEHOLDER } from '../../src/docs-page/samples/request-samples.ts'

const TOOLS = { curl: 'curl', client: 'bun', python: 'python3' } as const

export const LANGUAGES = ['curl', 'client', 'python'] as const
export type Language = (typeof LANGUAGES)[number]

const guides = await compileGuides()

function partsOf(guideId: string) {
  const guide = guides.get(guideId)
  if (guide === undefined) throw new Error(`there is no guide ${guideId}`)
  return guide.parts
}

export function guidesWithSamples(): readonly string[] {
  return [...guides.keys()].filter((id) => sampleTitles(id).length > 0)
}

/** The titles of all samples of a guide. */
export function sampleTitles(guideId: string): readonly string[] {
  return partsOf(guideId).flatMap((part) => (part.type === 'samples' ? [part.title] : []))
}

/** A sample of a guide as a reader runs it, with the address of the service and a key. */
export function guideSample(
  { address, key }: { readonly address: string; readonly key: string },
  { guide, title, language }: { readonly guide: string; readonly title: string; readonly language: Language },
): string {
  const found = partsOf(guide).find((part) => part.type === 'samples' && part.title === title)
  const sample = found?.type === 'samples' ? found.samples.find(({ id }) => id === language) : undefined
  if (sample === undefined) throw new Error(`${guide} has no sample "${title}" in ${language}`)
  return sample.code.replaceAll(SAMPLE_BASE_URL, `${address}/v1`).replaceAll(KEY_PLACEHOLDER, key)
}

/** The code blocks of a guide that are not in tabs, by title. */
export function codeBlocks(guideId: string): ReadonlyMap<string, string> {
  return new Map(partsOf(guideId).flatMap((part) => (part.type === 'code' ? [[part.title, part.code]] : [])))
}

/** Skips the test if this machine does not have the tool. */
export function testWith(id: Language, name: string, body: () => Promise<void>): void {
  const isInstalled = Bun.which(TOOLS[id]) !== null
  test.skipIf(!isInstalled)(isInstalled ? name : `${name}: ${TOOLS[id]} is not installed`, body)
}

/** The state of the store that the examples of the contract and the guides start from. */
export async function stockTheExample(service: TestService): Promise<void> {
  await service.setQuantity(1n, '{"quantity":12}')
  await service.setQuantity(2n, '{"quantity":28}')
  const client = new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: service.key })
  for await (const { id } of client.orders.list({ petId: 1n, state: 'open' })) await client.orders.cancel(id)
  for await (const { id } of client.webhooks.list()) await client.webhooks.remove(id)
  // A barcode belongs to one pet, and the examples use some.
  for await (const { petId: id, barcode } of client.catalog.list())
    if (barcode !== undefined) await client.pets.remove(id)
  // Category names are unique, and the examples use two.
  for await (const { id, name } of client.categories.list())
    if (name === 'Dogs' || name === 'Reptiles') await client.categories.update(id, { name: `Category ${id}` })
}

export function post(service: TestService, path: string, body: string) {
  return service.call('POST', path, { body, headers: { 'Content-Type': 'application/json' } })
}

export const orderOne = (service: TestService) => post(service, '/store/orders', '{"petId":1,"quantity":1}')
