/** Compiles the guides of the docs page from Markdown, and checks their links. Used by web/build.ts and the tests. */
import { basename, join } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import {
  type Guide,
  type GuidePart,
  SAMPLE_BASE_URL,
  TABLE_NAMES,
  type TableName,
} from './src/docs-page/guides/guide.ts'
import { partName } from './src/docs-page/page-route.ts'
import type { CodeSample } from './src/docs-page/samples/code-block.tsx'

const GUIDES = join(import.meta.dir, 'src/docs-page/guides')
const CONTRACT = join(import.meta.dir, '../openapi.json')

/** The parts of openapi.json that links can point to, and the numbers that guides name as `{{name}}`. */
interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
  readonly 'x-constants': Readonly<Record<string, number>>
  readonly 'x-error-codes': readonly { readonly code: string }[]
}

interface CompiledGuide {
  readonly guide: Guide
  readonly links: readonly string[]
}

/** All guides by id. Throws if a link of a guide leads nowhere. */
export async function compileGuides(folder = GUIDES): Promise<ReadonlyMap<string, Guide>> {
  const contract: Contract = await Bun.file(CONTRACT).json()
  const names = await Array.fromAsync(new Bun.Glob('*.md').scan(folder))
  const compiled = await Promise.all(names.sort().map((name) => compileGuide(join(folder, name), contract)))
  const guides = compiled.map(({ guide }) => guide)
  const targets = linkTargets(contract, guides)
  const dead = compiled.flatMap(({ guide, links }) =>
    links.filter((link) => !targets.has(link)).map((link) => `${guide.id}.md links to ${link}`),
  )
  if (dead.length > 0) throw new Error(`dead links in the guides:\n${dead.join('\n')}`)
  return new Map(guides.map((guide) => [guide.id, guide]))
}

function linkTargets(contract: Contract, guides: readonly Guide[]): ReadonlySet<string> {
  return new Set([
    '#/',
    '/openapi.json',
    ...operationAddresses(contract).values(),
    ...Object.keys(contract.components.schemas).map((name) => `#/schemas/${name}`),
    ...guides.flatMap(({ id, parts }) => [
      `#/guides/${id}`,
      ...parts.flatMap((part) => (part.type === 'heading' ? [`#/guides/${id}/${partName(part.title)}`] : [])),
    ]),
    ...contract['x-error-codes'].map(({ code }) => `#/guides/errors/${code}`),
  ])
}

/** The page of each operation, by its name such as `GET /catalog`. */
function operationAddresses({ paths }: Contract): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]): [string, string] => [
        `${method.toUpperCase()} ${path}`,
        `#/operations/${operationId}`,
      ]),
    ),
  )
}

async function compileGuide(path: string, contract: Contract): Promise<CompiledGuide> {
  const id = basename(path, '.md')
  const [, header = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(await Bun.file(path).text()) ?? []
  const fields = new Map(header.split('\n').map((line) => line.split(/: (.*)/) as [string, string]))
  const field = (name: string) => {
    const value = fields.get(name)
    if (value === undefined) throw new Error(`${id}.md has no ${name} in its front matter`)
    return value
  }
  const links: string[] = []
  const marked = createMarked(id, operationAddresses(contract), links)
  const parts: GuidePart[] = []
  for (const block of blocksOf(marked.lexer(withNumbers(id, body, contract)))) {
    parts.push(Array.isArray(block) ? codePart(block) : await textPart(block, marked, path))
  }
  const guide = {
    id,
    title: field('title'),
    summary: field('summary'),
    keywords: field('keywords'),
    parts: joinHtml(parts),
  }
  return { guide, links }
}

/** Leaves the names of tables, which `textPart` checks. */
function withNumbers(id: string, text: string, { 'x-constants': numbers }: Contract): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
    if (TABLE_NAMES.some((table) => table === name)) return placeholder
    const number = numbers[name]
    if (number === undefined) {
      throw new Error(`${id}.md: there is no table ${placeholder}, and no such number in openapi.json`)
    }
    return number.toLocaleString('en')
  })
}

/** Renders Markdown to HTML and records every link that is not external. */
function createMarked(id: string, operations: ReadonlyMap<string, string>, links: string[]): Marked {
  return new Marked({
    extensions: [
      {
        name: 'operation',
        level: 'inline',
        start: (text) => /\b(?:GET|PUT|POST|PATCH|DELETE) \//.exec(text)?.index,
        tokenizer(text) {
          const [raw] = /^(?:GET|PUT|POST|PATCH|DELETE) \/[\w/{}-]*/.exec(text) ?? []
          return raw === undefined ? undefined : { type: 'operation', raw }
        },
        renderer: ({ raw }) => {
          const address = operations.get(raw)
          if (address === undefined) throw new Error(`${id}.md mentions ${raw}, which is not an operation`)
          return `<a href="${address}">${raw}</a>`
        },
      },
    ],
    renderer: {
      html({ text }) {
        throw new Error(`${id}.md contains HTML, which guides must not: ${text}`)
      },
      link({ href, tokens }) {
        if (!href.startsWith('https://')) links.push(href)
        return `<a href="${href}">${this.parser.parseInline(tokens)}</a>`
      },
      table({ header, rows }) {
        const heads = header.map(({ tokens }) => `<th scope="col">${this.parser.parseInline(tokens)}</th>`)
        const rowOf = (cells: readonly Tokens.TableCell[]) => {
          const columns = cells.map(
            ({ tokens }, place) =>
              `<td data-label="${header[place]?.text}">${this.parser.parseInline(tokens)}</td>`,
          )
          return `<tr>${columns.join('')}</tr>`
        }
        const layout = header.length > 2 ? 'stacking' : 'plain'
        return `<table class="table table--${layout} prose__table"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.map(rowOf).join('')}</tbody></table>`
      },
    },
  })
}

async function textPart(token: Token, marked: Marked, path: string): Promise<GuidePart> {
  if (isHeading(token)) return { type: 'heading', title: token.text }
  const [, table] = /^\{\{([\w-]+)\}\}$/.exec(token.raw.trim()) ?? []
  if (table !== undefined) return { type: 'table', name: tableName(table, path) }
  const [, caption = '', drawing] = /^!\[(.*)\]\((.*\.svg)\)$/s.exec(token.raw.trim()) ?? []
  if (drawing !== undefined) {
    const svg = await Bun.file(join(path, '..', drawing)).text()
    const html = `<figure class="card drawing">${svg}<figcaption class="muted small">${marked.parseInline(caption)}</figcaption></figure>`
    return { type: 'html', html }
  }
  return { type: 'html', html: marked.parser([token]) }
}

function tableName(text: string, path: string): TableName {
  const name = TABLE_NAMES.find((each) => each === text)
  if (name === undefined) throw new Error(`${basename(path)}: there is no table {{${text}}}`)
  return name
}

function joinHtml(parts: readonly GuidePart[]): readonly GuidePart[] {
  const joined: GuidePart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === 'html' && last?.type === 'html')
      joined.splice(-1, 1, { type: 'html', html: last.html + part.html })
    else joined.push(part)
  }
  return joined
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code'
}

/** Neighbouring code blocks with the same title belong together: they are the same sample in several languages. */
function blocksOf(tokens: readonly Token[]): readonly (Token | Tokens.Code[])[] {
  const blocks: (Token | Tokens.Code[])[] = []
  for (const token of tokens.filter(({ type }) => type !== 'space')) {
    const last = blocks.at(-1)
    if (!isCode(token)) blocks.push(token)
    else if (Array.isArray(last) && titleOf(last[0]) === titleOf(token)) last.push(token)
    else blocks.push([token])
  }
  return blocks
}

const SAMPLES = {
  bash: { id: 'curl', title: 'curl', language: 'shell' },
  ts: { id: 'client', title: 'TypeScript client', language: 'typescript' },
  python: { id: 'python', title: 'Python', language: 'python' },
} as const

/** The info string of a code block is its language and its title, such as `http A delivery`. */
function titleOf(code: Tokens.Code | undefined): string {
  return code?.lang?.replace(/^\S+\s*/, '') ?? ''
}

function codePart(group: readonly Tokens.Code[]): GuidePart {
  const [first] = group
  const title = titleOf(first)
  if (first === undefined || title === '') throw new Error(`this code block has no title:\n${first?.raw}`)
  if (group.length > 1) return { type: 'samples', title, samples: group.map(sampleOf) }
  const [language = ''] = first.lang?.split(' ') ?? []
  if (language === 'json' || language === 'http') return { type: 'code', title, language, code: first.text }
  return { type: 'code', title, language: sampleKind(language).language, code: first.text }
}

function sampleKind(language: string) {
  if (language !== 'bash' && language !== 'ts' && language !== 'python')
    throw new Error(`code blocks cannot have the language "${language}"`)
  return SAMPLES[language]
}

function sampleOf({ lang = '', text }: Tokens.Code): CodeSample {
  const kind = sampleKind(lang.split(' ')[0] ?? '')
  return { ...kind, code: `${beginningOf(kind.id, text)}${text}` }
}

/** What a sample needs to run as it is, unless it has imports of its own. */
function beginningOf(id: CodeSample['id'], code: string): string {
  if (code.startsWith('import ')) return ''
  if (id === 'client') return `${clientBeginning(code)}\n\n`
  return id === 'python' ? `${pythonBeginning(code)}\n\n` : ''
}

function clientBeginning(code: string): string {
  const names = ['InsufficientStockError', 'OrderClosedError', 'etagOf'].filter((name) => code.includes(name))
  return `import { ${[...names, 'PetstoreClient'].join(', ')} } from '@petstore/client'

const client = new PetstoreClient({ baseUrl: '${SAMPLE_BASE_URL}', apiKey: 'YOUR_API_KEY' })`
}

const PYTHON_IMPORTS = [
  ['json.', 'import json'],
  ['time.', 'import time'],
  ['HTTPError', 'from urllib.error import HTTPError'],
  ['urlopen', 'from urllib.request import Request, urlopen'],
] as const

const PYTHON_CALL = `def call(method, path, body=None, headers={}):
    headers = {'Authorization': 'Bearer YOUR_API_KEY', 'Content-Type': 'application/json', **headers}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request('${SAMPLE_BASE_URL}' + path, data, headers, method=method)) as response:
        text = response.read()
        return json.loads(text) if text else None, response.headers
`

const PYTHON_EVENTS = `# If the connection breaks, the loop ends. Reconnect with the last id as Last-Event-ID.
def events(path='/inventory/events'):
    headers = {'Authorization': 'Bearer YOUR_API_KEY'}
    with urlopen(Request('${SAMPLE_BASE_URL}' + path, headers=headers)) as stream:
        for line in stream:
            name, _, value = line.decode().rstrip().partition(': ')
            if name == 'event':
                kind = value
            elif name == 'data':
                yield kind, json.loads(value)
`

function pythonBeginning(code: string): string {
  const functions = [PYTHON_CALL, ...(code.includes('events(') ? [PYTHON_EVENTS] : [])]
  const whole = [...functions, code].join('\n')
  const imports = PYTHON_IMPORTS.filter(([use]) => whole.includes(use)).map(([, line]) => line)
  return [imports.join('\n'), ...functions].join('\n\n')
}
