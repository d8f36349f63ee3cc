import { test } from 'bun:test'
import { join } from 'node:path'
import { PetstoreClient } from '@petstore/client'
import type { TestService } from '../../../server/test/support/test-service.ts'
import type { Sample } from '../../docs/code.ts'
import { readContract } from '../../docs/contract.ts'
import { codeOf, parseGuide, sampleOf } from '../../docs/guides.ts'
import { KEY_PLACEHOLDER, SAMPLE_BASE_URL } from '../../docs/samples.ts'

export const GUIDES = join(import.meta.dir, '../../docs/guides')
export const contract = readContract(await Bun.file(join(import.meta.dir, '../../../openapi.json')).json())

const TOOLS = { shell: 'curl', typescript: 'bun', python: 'python3' } as const

export const LANGUAGES = ['shell', 'typescript', 'python'] as const
type Language = Sample['language']
type Access = Pick<TestService, 'address' | 'key'>

/** The code blocks of a guide by title, each in one or several languages. */
async function codeIn(guide: string) {
  const text = await Bun.file(join(GUIDES, `${guide}.md`)).text()
  return codeOf(parseGuide(guide, text, contract))
}

/** The titles of all samples of a guide. */
export async function sampleTitles(guide: string): Promise<readonly string[]> {
  return [...(await codeIn(guide))].filter(([, codes]) => codes.length > 1).map(([title]) => title)
}

/** A sample of a guide as a reader runs it, with the address of the service and a key. */
export async function guideSample(
  access: Access,
  { guide, title, language }: { readonly guide: string; readonly title: string; readonly language: Language },
): Promise<string> {
  const codes = (await codeIn(guide)).get(title) ?? []
  const sample = codes.map(sampleOf).find((each) => each.language === language)
  if (sample === undefined) throw new Error(`${guide} has no sample "${title}" in ${language}`)
  return filledIn(sample.code, access)
}

export function filledIn(code: string, { address, key }: Access): string {
  return code.replaceAll(SAMPLE_BASE_URL, `${address}/v1`).replaceAll(KEY_PLACEHOLDER, key)
}

/** The code blocks of a guide that are not in tabs, by title. */
export async function codeBlocks(guide: string): Promise<ReadonlyMap<string, string>> {
  return new Map([...(await codeIn(guide))].map(([title, [code]]) => [title, code?.text ?? '']))
}

/** Skips the test if this machine does not have the tool. */
export function testWith(language: Language, name: string, body: () => Promise<void>): void {
  const isInstalled = Bun.which(TOOLS[language]) !== null
  test.skipIf(!isInstalled)(isInstalled ? name : `${name}: ${TOOLS[language]} is not installed`, body)
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
