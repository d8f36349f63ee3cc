import { Marked, type Token, type Tokens } from 'marked'
import { codeBlock, type Language, type Sample, sampleTabs } from './code.ts'
import type { Contract } from './contract.ts'
import { contractTable } from './contract-tables.ts'
import { Html, html } from './html.ts'
import { clientSetup } from './samples.ts'
import { heading, partName, type Site } from './site.ts'

/** A guide that is read but not yet rendered. */
export interface Guide {
  readonly id: string
  readonly title: string
  readonly summary: string
  readonly order: number
  readonly tokens: readonly Token[]
}

export function parseGuide(id: string, text: string, { document }: Contract): Guide {
  const [, title, summary, order, body] =
    /^---\ntitle: (.*)\nsummary: (.*)\norder: (\d+)\n---\n(.*)$/s.exec(text) ?? []
  if (title === undefined || summary === undefined || body === undefined)
    throw new Error(`${id}.md must begin with its title, summary and order`)
  const { firstSeconds, longestSeconds } = document['x-rate-limits'].ban
  const bans = { firstBanMinutes: firstSeconds / 60, longestBanMinutes: longestSeconds / 60 }
  const numbers: Readonly<Record<string, number>> = { ...document['x-constants'], ...bans }
  const withNumbers = body.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
    const number = numbers[name]
    return number === undefined ? placeholder : number.toLocaleString('en')
  })
  const tokens = new Marked().lexer(withNumbers).filter(({ type }) => type !== 'space')
  return { id, title, summary, order: Number(order), tokens }
}

/** The addresses of a guide and of its headings. */
export function guideParts({ id, tokens }: Guide): readonly string[] {
  const titles = tokens.filter(isHeading).map(({ text }) => partName(text))
  return [`/docs/guides/${id}`, ...titles.map((part) => `/docs/guides/${id}#${part}`)]
}

/** `drawings` are the SVG files, by name. Throws if a link, an operation or a table does not exist. */
export function renderGuide(site: Site, guide: Guide, drawings: ReadonlyMap<string, string>): Html {
  try {
    const parts = blocksOf(guide.tokens).map((block) =>
      Array.isArray(block) ? codePart(block) : textPart(site, block, drawings),
    )
    return html`<article class="prose"><p class="muted">Guide</p><h1>${guide.title}</h1><p class="lead">${guide.summary}</p>${parts}</article>`
  } catch (error) {
    throw new Error(`${guide.id}.md: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

function textPart(site: Site, token: Token, drawings: ReadonlyMap<string, string>): Html {
  if (isHeading(token)) return heading(partName(token.text), token.text)
  const [, name] = /^\{\{([\w-]+)\}\}$/.exec(token.raw.trim()) ?? []
  if (name !== undefined) return contractTable(site, name)
  const [, caption = '', file = ''] = /^!\[(.*)\]\((.*\.svg)\)$/s.exec(token.raw.trim()) ?? []
  if (file === '') return site.blocks(token.raw)
  const drawing = drawings.get(file)
  if (drawing === undefined) throw new Error(`there is no drawing ${file}`)
  return html`<figure class="card drawing">${new Html(drawing)}<figcaption class="muted small">${site.inline(caption)}</figcaption></figure>`
}

/** Neighbouring code blocks with the same title are the same sample in several languages. */
function blocksOf(tokens: readonly Token[]): readonly (Token | Tokens.Code[])[] {
  const blocks: (Token | Tokens.Code[])[] = []
  for (const token of tokens) {
    const last = blocks.at(-1)
    if (!isCode(token)) blocks.push(token)
    else if (Array.isArray(last) && infoOf(last[0]).title === infoOf(token).title) last.push(token)
    else blocks.push([token])
  }
  return blocks
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  bash: 'shell',
  ts: 'typescript',
  python: 'python',
  json: 'json',
  http: 'http',
}

/** The info string of a code block is its language and its title, such as `http A delivery`. */
function infoOf(code: Tokens.Code | undefined): { readonly language: Language; readonly title: string } {
  const [, name = '', title = ''] = /^(\S*) ?(.*)$/.exec(code?.lang ?? '') ?? []
  const language = LANGUAGES[name]
  if (language === undefined || title === '')
    throw new Error(`this code block needs a known language and a title:\n${code?.raw}`)
  return { language, title }
}

function codePart(group: readonly Tokens.Code[]): Html {
  const [first] = group
  const { title, language } = infoOf(first)
  if (group.length > 1) return sampleTabs(partName(title), title, group.map(sampleOf))
  const code = first?.text ?? ''
  return codeBlock(title, language, language === 'json' ? JSON.stringify(JSON.parse(code), null, 2) : code)
}

/** The code of a guide by title, in one or several languages; tests run it. */
export function codeOf({ tokens }: Guide): ReadonlyMap<string, readonly Tokens.Code[]> {
  const groups = blocksOf(tokens).filter((block) => Array.isArray(block))
  return new Map(groups.map((group) => [infoOf(group[0]).title, group]))
}

/** What a sample may use of a client, besides the client itself. */
const IMPORTS = {
  typescript: ['InsufficientStockError', 'OrderClosedError', 'etagOf'],
  python: ['PetstoreError', 'etag_of'],
} as const

/** Adds the client that a sample uses, unless the sample has imports of its own. */
export function sampleOf(code: Tokens.Code): Sample {
  const { language } = infoOf(code)
  const { text } = code
  if (language === 'json' || language === 'http') throw new Error(`a sample cannot be in ${language}`)
  if (language === 'shell' || text.startsWith('import ')) return { language, code: text }
  const imports = IMPORTS[language].filter((name) => text.includes(name))
  return { language, code: `${clientSetup(language, imports)}\n\n${text}` }
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code'
}
