import { quoted } from '../values/exact-json.ts'
import { DELIMITERS, type Delimiter, parseRecord } from './csv-rows.ts'
import type { Column } from './exchange-rows.ts'

/** What a file may hold. */
export interface FileKind<Name extends string> {
  readonly name: Name
  /** In messages: pets, a count. */
  readonly called: string
  readonly columns: readonly Column[]
  /** How the one who writes such a file is told what it begins with. */
  readonly header: string
}

interface Header<Name extends string> {
  readonly kind: Name
  readonly delimiter: Delimiter
  /** For each column its index in the file, -1 where it has none. */
  readonly order: readonly number[]
}

const MAX_PROBLEMS = 5

/**
 * Reads the header of a CSV, in any case and with blanks around its names. Nothing where it has no column of any kind in
 * it; throws where it has and is wrong, and says for what kind it was taken.
 */
export function readHeader<Name extends string>(
  text: string,
  file: string,
  kinds: readonly FileKind<Name>[],
): Header<Name> | undefined {
  const { names, delimiter } = split(text)
  const kind = kindOfNames(names, kinds)
  if (kind === undefined) return undefined
  const problems = problemsOf(names, kind)
  if (problems.length > 0) {
    throw new Error(`${file} is taken for ${kind.called}, and its header is wrong: ${sentences(problems)}`)
  }
  const order = kind.columns.map((column) => names.findIndex((name) => isNamed(column, name)))
  return { kind: kind.name, delimiter, order }
}

/** The kind that has most of these names, or nearly; nothing where none has any. */
export function kindOfNames<Name extends string>(
  names: readonly string[],
  kinds: readonly FileKind<Name>[],
): FileKind<Name> | undefined {
  const [best] = kinds
    .map((kind) => ({
      kind,
      common: names.filter((name) => nearest(name, kind.columns) !== undefined).length,
      lacking: missing(names, kind.columns).length,
    }))
    // A single name is too little to tell by what is not there.
    .sort((a, b) => b.common - a.common || (a.common > 1 ? a.lacking - b.lacking : 0))
  return best === undefined || best.common === 0 ? undefined : best.kind
}

/** By the delimiter that makes most of it. */
function split(text: string): { readonly names: readonly string[]; readonly delimiter: Delimiter } {
  let best: { names: readonly string[]; delimiter: Delimiter } = { names: [], delimiter: ',' }
  for (const delimiter of DELIMITERS) {
    const record = parseRecord(text, delimiter)
    if (Array.isArray(record) && record.length > best.names.length) {
      best = { names: record.map((name) => name.trim()), delimiter }
    }
  }
  return best
}

function problemsOf<Name extends string>(
  names: readonly string[],
  { columns, called }: FileKind<Name>,
): string[] {
  const problems: string[] = []
  const absent = new Set(columns.filter((column) => !names.some((name) => isNamed(column, name))))
  for (const [index, name] of names.entries()) {
    const column = columns.find((one) => isNamed(one, name))
    if (name === '') problems.push(`column ${index + 1} has no name; name it or take it out`)
    else if (column === undefined) {
      const meant = nearest(name, [...absent])
      if (meant !== undefined) absent.delete(meant)
      const advice = meant === undefined ? 'take it out' : `did you mean ${meant.name}?`
      problems.push(`${shown(name)} is not a column of ${called}; ${advice}`)
    } else if (names.slice(0, index).some((earlier) => isNamed(column, earlier))) {
      problems.push(`${column.name} is there twice; take one of them out`)
    }
  }
  const lacking = missing(names, [...absent]).map((column) => column.name)
  if (lacking.length === 1) problems.push(`${lacking[0]} is missing; add it`)
  if (lacking.length > 1) problems.push(`${lacking.join(', ')} are missing; add them`)
  return problems
}

function missing(names: readonly string[], columns: readonly Column[]): readonly Column[] {
  return columns.filter((column) => !column.isOptional && !names.some((name) => isNamed(column, name)))
}

function isNamed(column: Column, name: string): boolean {
  return column.name.toLowerCase() === name.toLowerCase()
}

/** The column of this name, or else one whose name is so much like it that it may be meant. */
function nearest(name: string, columns: readonly Column[]): Column | undefined {
  const text = bare(name)
  for (let edits = 0; edits <= 3; edits++) {
    const found = columns.find((column) => {
      const known = bare(column.name)
      return edits <= known.length / 3 && isWithin(edits, text, known)
    })
    if (found !== undefined) return found
  }
  return undefined
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Whether one becomes the other by so many letters put in, left out, changed, or swapped with the next. */
function isWithin(edits: number, one: string, other: string): boolean {
  if (one === other) return true
  if (edits === 0 || Math.abs(one.length - other.length) > edits) return false
  let same = 0
  while (one[same] === other[same]) same++
  const [a, b] = [one.slice(same), other.slice(same)]
  return (
    isWithin(edits - 1, a.slice(1), b) ||
    isWithin(edits - 1, a, b.slice(1)) ||
    isWithin(edits - 1, a.slice(1), b.slice(1)) ||
    (a[0] === b[1] && a[1] === b[0] && isWithin(edits - 1, a.slice(2), b.slice(2)))
  )
}

function shown(name: string): string {
  return /^\w{1,40}$/.test(name) ? name : quoted(name)
}

function sentences(problems: readonly string[]): string {
  const told = problems.slice(0, MAX_PROBLEMS)
  if (problems.length > told.length) told.push(`and ${problems.length - told.length} more`)
  return told
    .map((problem, index) => (index === told.length - 1 || problem.endsWith('?') ? problem : `${problem}.`))
    .join(' ')
}
