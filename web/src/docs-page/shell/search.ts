import type { Contract, Operation } from '../contract.ts'
import { WHAT_TO_DO } from '../guides/contract-tables.tsx'
import { GUIDES } from '../guides/guide-list.ts'
import { href } from '../page-route.ts'
import { statusPhrase } from '../reference/tags.tsx'

export interface Entry {
  readonly title: string
  readonly address: string
  readonly operation?: Operation
  /** The words that the search finds it by, in lower case. */
  readonly words: string
  /** A query for a part of a page may also contain words of the page. */
  readonly pageWords?: string
}

export interface EntryGroup {
  readonly title: string
  readonly entries: readonly Entry[]
}

/** All pages, in the order of the navigation. */
export function pageGroups(contract: Contract): readonly EntryGroup[] {
  const guides = GUIDES.map(({ id, title, summary, keywords }) => ({
    title,
    address: href({ page: 'guides', id }),
    words: inLowerCase(title, summary, keywords),
  }))
  const operationGroups = contract.groups.map(({ tag, operations }) => ({
    title: tag,
    entries: operations.map((operation) => ({
      title: operation.summary,
      address: href({ page: 'operations', id: operation.id }),
      operation,
      words: wordsOf(operation),
    })),
  }))
  const schemas = [...contract.schemas].map(([name, { description, properties = {} }]) => ({
    title: name,
    address: href({ page: 'schemas', id: name }),
    words: inLowerCase(name, description, ...Object.keys(properties)),
  }))
  return [{ title: 'Guides', entries: guides }, ...operationGroups, { title: 'Resources', entries: schemas }]
}

/** The parts of the pages: error codes, responses, sections of guides. */
export function partGroups(contract: Contract, guideSections: readonly Entry[]): readonly EntryGroup[] {
  const codes = contract.document['x-error-codes'].map(({ code, status, description }) => ({
    title: code,
    address: href({ page: 'guides', id: 'errors' }, code),
    words: inLowerCase(code, String(status), statusPhrase(status), description, WHAT_TO_DO[code]),
  }))
  const answers = contract.operations.flatMap((operation) =>
    operation.answers.map(({ status, description, events = {} }) => ({
      title: `${status} · ${operation.summary}`,
      address: href({ page: 'operations', id: operation.id }, String(status)),
      operation,
      words: inLowerCase(String(status), statusPhrase(status), description, ...Object.keys(events)),
      pageWords: wordsOf(operation),
    })),
  )
  return [
    { title: 'Error codes', entries: codes },
    { title: 'Answers', entries: answers },
    { title: 'In the guides', entries: guideSections },
  ]
}

function wordsOf(operation: Operation): string {
  const { id, method, path, summary, description, stability, sunset, parameters } = operation
  const names = parameters.map(({ name }) => name)
  const deprecated = sunset === undefined ? '' : 'deprecated'
  return inLowerCase(id, `${method} ${path}`, summary, description, stability, deprecated, ...names)
}

/** The entries that contain all words of the query, each address once, without empty groups. */
export function findEntries(groups: readonly EntryGroup[], query: string): readonly EntryGroup[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  const found = new Set<string>()
  const isFound = ({ address, words, pageWords = '' }: Entry) => {
    const isWanted =
      !found.has(address) &&
      wanted.every((word) => words.includes(word) || pageWords.includes(word)) &&
      wanted.some((word) => words.includes(word))
    if (isWanted) found.add(address)
    return isWanted
  }
  return groups
    .map(({ title, entries }) => ({ title, entries: entries.filter(isFound) }))
    .filter(({ entries }) => entries.length > 0)
}

export function inLowerCase(...words: readonly (string | undefined)[]): string {
  return words.join(' ').toLowerCase()
}
