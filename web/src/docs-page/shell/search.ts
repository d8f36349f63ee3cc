import type { Contract, Operation } from '../contract.ts'
import { WHAT_TO_DO } from '../guides/contract-tables.tsx'
import type { Guide } from '../guides/guide.ts'
import { href } from '../page-route.ts'
import { statusPhrase } from '../reference/status-tag.tsx'
import type { GuideSection } from './guide-sections.tsx'

/** One line of the navigation. */
export interface Entry {
  readonly title: string
  readonly address: string
  readonly operation?: Operation
  /** What it can be found by, in small letters. */
  readonly words: string
  /** Of a part of a page: what is in the part itself. Something of it must be asked for, not its page alone. */
  readonly ownWords?: string
}

export interface EntryGroup {
  readonly title: string
  readonly entries: readonly Entry[]
}

/** Every page that can be read here, in the order of the navigation. */
export function pageGroups(contract: Contract, guides: readonly Guide[]): readonly EntryGroup[] {
  const groups = contract.groups.map(({ tag, operations }) => ({
    title: tag,
    entries: operations.map((operation) => ({
      title: operation.summary,
      address: href({ page: 'operation', id: operation.id }),
      operation,
      words: wordsOf(operation),
    })),
  }))
  const schemas = [...contract.schemas].map(([name, schema]) => ({
    title: name,
    address: href({ page: 'schema', id: name }),
    words: inSmall(name, schema.description, ...Object.keys(schema.properties ?? {})),
  }))
  return [
    {
      title: 'Guides',
      entries: guides.map(({ id, title, summary, keywords }) => ({
        title,
        address: href({ page: 'guide', id }),
        words: inSmall(title, summary, keywords),
      })),
    },
    ...groups,
    { title: 'Resources', entries: schemas },
  ]
}

/** What stands on those pages: each code, each answer, each section of a guide. */
export function partGroups(contract: Contract, sections: readonly GuideSection[]): readonly EntryGroup[] {
  const codes = contract.errorCodes.map(({ code, status, description }) => ({
    title: code,
    address: href({ page: 'guide', id: 'errors' }, code),
    words: inSmall(code, String(status), statusPhrase(status), description, WHAT_TO_DO[code]),
  }))
  const answers = contract.operations.flatMap((operation) =>
    operation.answers.map(({ status, description, events }) => {
      const ownWords = inSmall(`${status}`, statusPhrase(status), description, ...(events?.keys() ?? []))
      return {
        title: `${status} · ${operation.summary}`,
        address: href({ page: 'operation', id: operation.id }, String(status)),
        operation,
        words: `${wordsOf(operation)} ${ownWords}`,
        ownWords,
      }
    }),
  )
  const texts = sections.map(({ guide, title, address, text }) => {
    const ownWords = inSmall(title, text)
    const isWhole = title === guide.title
    return {
      title: isWhole ? title : `${guide.title}: ${title}`,
      address,
      words: `${inSmall(guide.title, guide.keywords)} ${ownWords}`,
      ownWords,
    }
  })
  return [
    { title: 'Error codes', entries: codes },
    { title: 'Answers', entries: answers },
    { title: 'In the guides', entries: texts },
  ]
}

function wordsOf({
  id,
  method,
  path,
  summary,
  description,
  stability,
  isDeprecated,
  parameters,
}: Operation): string {
  return inSmall(
    ...[id, `${method} ${path}`, summary, description, stability],
    isDeprecated ? 'deprecated' : '',
    ...parameters.map(({ name }) => name),
  )
}

/** The groups with what has all words of the query in it, each address once; groups without any are left out. */
export function findEntries(groups: readonly EntryGroup[], query: string): readonly EntryGroup[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  const found = new Set<string>()
  const isFound = ({ address, words, ownWords = words }: Entry) => {
    const isWanted =
      !found.has(address) &&
      wanted.every((word) => words.includes(word)) &&
      wanted.some((word) => ownWords.includes(word))
    if (isWanted) found.add(address)
    return isWanted
  }
  return groups
    .map(({ title, entries }) => ({ title, entries: entries.filter(isFound) }))
    .filter(({ entries }) => entries.length > 0)
}

function inSmall(...words: readonly (string | undefined)[]): string {
  return words.join(' ').toLowerCase()
}
