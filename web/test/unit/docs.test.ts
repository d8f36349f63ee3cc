import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Html } from '../../docs/html.ts'
import { docsPages } from '../../docs/pages.ts'
import { indentJson } from '../../src/docs-page/indent-json.ts'
import { GUIDES } from '../support/guide-samples.ts'

const ASSETS = { script: '/s.js', style: '/s.css', icon: '/i.svg', links: new Html('') }

async function textsIn(pattern: string): Promise<Map<string, string>> {
  const names = await Array.fromAsync(new Bun.Glob(pattern).scan(GUIDES))
  const texts = names.map(
    async (name) => [name.replace('.md', ''), await Bun.file(join(GUIDES, name)).text()] as const,
  )
  return new Map(await Promise.all(texts))
}

let guides: Map<string, string>
let drawings: Map<string, string>
let document: Record<string, unknown>
let pages: ReturnType<typeof docsPages>
beforeAll(async () => {
  guides = await textsIn('*.md')
  drawings = await textsIn('*.svg')
  document = await Bun.file(join(import.meta.dir, '../../../openapi.json')).json()
  pages = docsPages({ document, guides, drawings }, ASSETS)
})

const matches = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, text = '']) => text)
const idsOf = (html: string) => matches(html, / id="([^"]+)"/g)
const pageAt = (path: string) => pages.find((page) => page.path === path)?.html ?? ''

describe('every page', () => {
  test('has a language, a title and a description of its own, one heading of level 1, and nothing inline', () => {
    for (const { path, html } of pages) {
      expect([
        path,
        matches(
          html,
          /<(html lang="en"|title>[^<]+ · Petstore Inventory API<|meta name="description" content="[^"]+|h1)/g,
        ).length,
      ]).toEqual([path, 4])
      expect(html).not.toMatch(/<script(?! src=)|<style|\son\w+=|\sstyle=/)
    }
    expect(new Set(pages.map(({ html }) => /<title>[^<]+/.exec(html)?.[0])).size).toBe(pages.length)
  })

  test('gives each of its parts one address, and links only to addresses that exist', () => {
    const addresses = new Set(
      pages.flatMap(({ path, html }) => [path, ...idsOf(html).map((id) => `${path}#${id}`)]),
    )
    for (const { path, html } of pages) {
      expect([path, idsOf(html).length]).toEqual([path, new Set(idsOf(html)).size])
      const links = matches(html, /<a [^>]*href="(#[^"]+|\/docs[^"]*)"/g)
      const dead = links.filter((link) => !addresses.has(link.startsWith('#') ? path + link : link))
      expect([path, dead]).toEqual([path, []])
    }
  })
})

test('every operation, parameter, response, record, field and error code of the contract has an address', () => {
  const described = document as {
    paths: Record<string, Record<string, { operationId: string; tags: [string]; responses: object }>>
    components: { schemas: Record<string, { properties?: object }> }
    'x-error-codes': { code: string }[]
  }
  for (const { operationId, tags, responses } of Object.values(described.paths).flatMap(Object.values)) {
    const ids = idsOf(pageAt(`/docs/${tags[0]}`))
    const parts = Object.keys(responses).map((status) => `${operationId}.${status}`)
    expect(ids).toEqual(expect.arrayContaining([operationId, ...parts]))
  }
  const records = Object.entries(described.components.schemas).flatMap(([name, { properties = {} }]) => [
    name,
    ...Object.keys(properties).map((field) => `${name}.${field}`),
  ])
  expect(idsOf(pageAt('/docs/records'))).toEqual(expect.arrayContaining(records))
  expect(idsOf(pageAt('/docs/store'))).toEqual(
    expect.arrayContaining(['createOrder.petId', 'listOrders.state']),
  )
  expect(idsOf(pageAt('/docs/inventory'))).toContain('adjustInventory.changes.petId')
  const codes = described['x-error-codes'].map(({ code }) => code)
  expect(idsOf(pageAt('/docs/guides/errors'))).toEqual(expect.arrayContaining(codes))
})

test.each([
  ['See [limits](limits.md#nowhere).', 'feeding.md: the link to limits.md#nowhere is dead'],
  ['See [a record](record:Unicorn).', 'feeding.md: the link to record:Unicorn is dead'],
  ['See GET /unicorns.', 'feeding.md: GET /unicorns is not an operation'],
  ['See <b>this</b>.', 'feeding.md: the text contains HTML'],
  ['{{unicorns}}', 'feeding.md: there is no table and no number {{unicorns}}'],
  ['![A unicorn](unicorn.svg)', 'feeding.md: there is no drawing unicorn.svg'],
  ['```ts\n1\n```', 'feeding.md: this code block needs a known language and a title'],
])('a guide with %p cannot be built', (text, problem) => {
  const header = '---\ntitle: Feeding\nsummary: How to feed\norder: 99\n---\n'
  const withFeeding = new Map([...guides, ['feeding', header + text]])
  expect(() => docsPages({ document, guides: withFeeding, drawings }, ASSETS)).toThrow(problem)
})

test('a new operation or error code cannot be built without a method of the clients and an advice', () => {
  const build = (changes: object) => () =>
    docsPages({ document: { ...document, ...changes }, guides, drawings }, ASSETS)
  const paths = document.paths as Record<string, { readonly get: object }>
  const feeding = { get: { ...paths['/limits']?.get, operationId: 'listFeedings' } }
  expect(build({ paths: { ...paths, '/feedings': feeding } })).toThrow(
    'the clients have no method listFeedings: npm run contract:client',
  )
  const codes = [...(document['x-error-codes'] as object[]), { code: 'too_hungry', status: 409 }]
  expect(build({ 'x-error-codes': codes })).toThrow('errors.md: add too_hungry to WHAT_TO_DO')
})

test('fields of variants are required if every variant requires them', () => {
  const variant = (name: string) => ({
    type: 'object',
    properties: { size: { type: 'integer' }, [name]: { type: 'integer' } },
    required: ['size', name],
  })
  const components = document.components as { readonly schemas: object }
  const schemas = {
    ...components.schemas,
    Round: variant('radius'),
    Shape: { oneOf: [{ $ref: '#/components/schemas/Round' }, variant('width')] },
  }
  const built = docsPages(
    { document: { ...document, components: { ...components, schemas } }, guides, drawings },
    ASSETS,
  )
  const rows = built.find(({ path }) => path === '/docs/records')?.html.split('<tr ') ?? []
  const required = rows.filter((row) => row.startsWith('id="Shape.')).map((row) => row.includes('required'))
  // Of size, radius and width.
  expect(required).toEqual([true, false, false])
})

test('text of the contract is escaped, and a new tag has a page', () => {
  const tags = [...(document.tags as object[]), { name: 'tanks', description: '"Fish" & chips < 5' }]
  const tanks = docsPages({ document: { ...document, tags }, guides, drawings }, ASSETS).at(-2)
  expect(tanks?.path).toBe('/docs/tanks')
  expect(tanks?.html).toContain('<p class="lead">&quot;Fish&quot; &amp; chips &lt; 5</p>')
})

test('JSON is indented digit for digit', () => {
  const text = '[{"petId":9223372036854775807,"name":"a, {b}: \\"c\\"","n":1.50e3,"none":[ ]},-1]'
  const indented = indentJson(text)
  expect(indented.split('\n').slice(0, 4)).toEqual([
    '[',
    '  {',
    '    "petId": 9223372036854775807,',
    '    "name": "a, {b}: \\"c\\"",',
  ])
  expect(JSON.stringify(JSON.parse(indented))).toBe(JSON.stringify(JSON.parse(text)))
})
