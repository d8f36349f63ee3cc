import { Marked, type Tokens } from 'marked'
import type { Contract, Operation } from './contract.ts'
import { Html, html } from './html.ts'

const OPERATION = /\b(?:GET|PUT|POST|PATCH|DELETE) \/[\w/{}-]*/

/** Where everything is, and text with links to it. */
export class Site {
  readonly contract: Contract
  readonly #guideParts: ReadonlySet<string>
  readonly #marked: Marked

  /** `guideParts` are the addresses of all guides and of their headings. */
  constructor(contract: Contract, guideParts: Iterable<string>) {
    this.contract = contract
    this.#guideParts = new Set(guideParts)
    this.#marked = new Marked({
      extensions: [
        {
          name: 'operation',
          level: 'inline',
          start: (text) => OPERATION.exec(text)?.index,
          tokenizer(text) {
            const match = OPERATION.exec(text)
            return match?.index === 0 ? { type: 'operation', raw: match[0] } : undefined
          },
          renderer: ({ raw }) => this.#operationLink(raw).text,
        },
      ],
      renderer: {
        html({ text }) {
          throw new Error(`the text contains HTML: ${text}`)
        },
        link: ({ href, text }) => html`<a href="${this.#linkTarget(href)}">${this.inline(text)}</a>`.text,
        table: ({ header, rows }) => {
          const cellsOf = (cells: readonly Tokens.TableCell[]) => cells.map(({ text }) => this.inline(text))
          const body = rows.map((cells) => ({ cells: cellsOf(cells) }))
          return table(cellsOf(header), body).text
        },
      },
    })
  }

  operationAddress({ tag, operationId }: Operation): string {
    return `/docs/${tag}#${operationId}`
  }

  /** Markdown within a paragraph. */
  inline(text: string): Html {
    return new Html(this.#marked.parseInline(text, { async: false }))
  }

  /** Markdown of paragraphs, lists and tables. */
  blocks(text: string): Html {
    return new Html(this.#marked.parse(text, { async: false }))
  }

  #operationLink(name: string): Html {
    const operation = this.contract.operations.find(({ method, path }) => `${method} ${path}` === name)
    if (operation === undefined) throw new Error(`${name} is not an operation`)
    return html`<a href="${this.operationAddress(operation)}">${name}</a>`
  }

  /** A guide such as `limits.md#bans`, a record such as `record:Order`, or an address. */
  #linkTarget(href: string): string {
    if (href.startsWith('https://')) return href
    const [, record] = /^record:(\w+)$/.exec(href) ?? []
    const isRecord = record !== undefined
    const target = isRecord ? recordAddress(record) : `/docs/guides/${href.replace('.md', '')}`
    const { schemas } = this.contract.document.components
    const isKnown = isRecord ? record in schemas : this.#guideParts.has(target)
    if (!isKnown) throw new Error(`the link to ${href} is dead`)
    return target
  }
}

export const RECORDS_PATH = '/docs/records'

export function recordAddress(name: string): string {
  return `${RECORDS_PATH}#${name}`
}

interface Row {
  /** Gives the row an address of its own. */
  readonly id?: string
  readonly cells: readonly (Html | string | undefined)[]
}

export function table(columns: readonly (Html | string)[], rows: readonly Row[]): Html {
  const heads = columns.map((column) => html`<th scope="col">${column}</th>`)
  const body = rows.map(({ id, cells }) => {
    const columnsOfRow = cells.map((cell) => html`<td>${cell}</td>`)
    return html`<tr${id !== undefined && html` id="${id}"`}>${columnsOfRow}</tr>`
  })
  return html`<table class="table"><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table>`
}

/** "What a 409 means" is `what-a-409-means` in the address. */
export function partName(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

/** A heading with a link to itself. */
export function heading(id: string, title: string): Html {
  return html`<h2 id="${id}">${title} <a class="heading-link" href="#${id}" aria-label="Link to ${title}">#</a></h2>`
}
