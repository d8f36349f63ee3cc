import type { Contract, Operation } from '../contract.ts'
import type { Guide } from '../guides/guide.ts'
import type { PageRoute } from '../page-route.ts'

/** One line of the navigation. */
export interface Entry {
  readonly title: string
  readonly route: PageRoute
  readonly operation?: Operation
  /** What it can be found by, in small letters. */
  readonly words: string
}

export interface EntryGroup {
  readonly title: string
  readonly entries: readonly Entry[]
}

/** Everything that can be read here, in the order of the navigation. */
export function entryGroups(contract: Contract, guides: readonly Guide[]): readonly EntryGroup[] {
  const groups = contract.groups.map(({ tag, operations }) => ({
    title: tag,
    entries: operations.map(operationEntry),
  }))
  const schemas = [...contract.schemas].map(([name, schema]) => ({
    title: name,
    route: { page: 'schema', id: name } as const,
    words: inSmall(name, schema.description, ...Object.keys(schema.properties ?? {})),
  }))
  return [
    {
      title: 'Guides',
      entries: guides.map(({ id, title, summary, keywords }) => ({
        title,
        route: { page: 'guide', id } as const,
        words: inSmall(title, summary, keywords),
      })),
    },
    ...groups,
    { title: 'Resources', entries: schemas },
  ]
}

function operationEntry(operation: Operation): Entry {
  const { id, method, path, summary, description, stability, isDeprecated, parameters } = operation
  return {
    title: summary,
    route: { page: 'operation', id },
    operation,
    words: inSmall(
      ...[id, `${method} ${path}`, summary, description, stability],
      isDeprecated ? 'deprecated' : '',
      ...parameters.map(({ name }) => name),
    ),
  }
}

/** The groups with what has all words of the query in it, wherever; groups without any are left out. */
export function findEntries(groups: readonly EntryGroup[], query: string): readonly EntryGroup[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return groups
  return groups
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter(({ words }) => wanted.every((word) => words.includes(word))),
    }))
    .filter(({ entries }) => entries.length > 0)
}

function inSmall(...words: readonly (string | undefined)[]): string {
  return words.join(' ').toLowerCase()
}
