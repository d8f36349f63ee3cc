/** A number as it was written, because a double does not hold it exactly. */
export class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
}

/** `isInside`: the name is not one of the outermost object. */
export type JsonProblem =
  | { readonly type: 'nests_too_deep' }
  | { readonly type: 'repeats_name'; readonly name: string; readonly isInside: boolean }

/** A text that may be JSON, but is not parsed. */
export class RefusedJson extends Error {
  override readonly name = 'RefusedJson'
  readonly problem: JsonProblem

  constructor(problem: JsonProblem) {
    super(problem.type)
    this.problem = problem
  }
}

interface JsonRules {
  readonly maxNesting: number
  readonly allowsRepeatedNames: boolean
}

/**
 * Parses JSON without rounding. Throws `RefusedJson` before parsing, because deep nesting takes long to parse and the parsed value
 * does not show that a name occurred twice. Throws `SyntaxError` if the text is not JSON.
 */
export function parseExactJson(
  text: string,
  { maxNesting = Number.POSITIVE_INFINITY, allowsRepeatedNames = true }: Partial<JsonRules> = {},
): unknown {
  const numbers = findNumbers(text, { maxNesting, allowsRepeatedNames })
  const holder: [unknown] = [JSON.parse(text)]
  for (const number of numbers) replaceNumber(holder, number)
  return holder[0]
}

/** A number and where it is. The path starts in an array whose only element is the whole JSON value. */
interface FoundNumber {
  readonly source: string
  /** The index of the next value in each array, and the name of the next value in each object. */
  readonly path: readonly (number | string)[]
}

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const COLON = ':'.charCodeAt(0)
const COMMA = ','.charCodeAt(0)
const OPEN_BRACE = '{'.charCodeAt(0)
const CLOSE_BRACE = '}'.charCodeAt(0)
const OPEN_BRACKET = '['.charCodeAt(0)
const CLOSE_BRACKET = ']'.charCodeAt(0)
const MINUS = '-'.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)
const NINE = '9'.charCodeAt(0)

/** No schema has this many fields, so an object with more names is refused for an unknown name. This bounds the work. */
const MAX_NAMES = 100

/**
 * One pass over the text, because `JSON.parse` takes ten times as long with a reviver. If the text is not JSON, the result is
 * meaningless, but `JSON.parse` then throws.
 */
function findNumbers(text: string, { maxNesting, allowsRepeatedNames }: JsonRules): readonly FoundNumber[] {
  const numbers: FoundNumber[] = []
  /** The names of the current object at each depth. */
  const namesAtDepth: Set<string>[] = []
  const path: (number | string)[] = [0]
  let lastString = ''
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      const end = endOfString(text, at)
      lastString = text.slice(at, end)
      at = end - 1
    } else if (character === COLON) {
      // Outside of strings, JSON has a colon only after a name.
      const depth = path.length - 1
      const name = parseString(lastString)
      path[depth] = name
      if (allowsRepeatedNames) continue
      const earlierNames = namesAtDepth[depth]
      if (earlierNames?.has(name)) {
        throw new RefusedJson({ type: 'repeats_name', name, isInside: depth > 1 })
      }
      if (earlierNames !== undefined && earlierNames.size < MAX_NAMES) earlierNames.add(name)
    } else if (character === COMMA) {
      const index = path.at(-1)
      if (typeof index === 'number') path[path.length - 1] = index + 1
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (path.length > maxNesting) throw new RefusedJson({ type: 'nests_too_deep' })
      const depth = path.push(character === OPEN_BRACKET ? 0 : '') - 1
      if (character === OPEN_BRACKET || allowsRepeatedNames) continue
      if (namesAtDepth[depth] === undefined) namesAtDepth[depth] = new Set()
      else namesAtDepth[depth].clear()
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      path.pop()
    } else if (character === MINUS || (character >= ZERO && character <= NINE)) {
      const end = endOfNumber(text, at)
      const source = text.slice(at, end)
      if (isRounded(source)) numbers.push({ source, path: path.slice() })
      at = end - 1
    }
  }
  return numbers
}

/** \u0061 is the same name as a. Throws `SyntaxError` for a text that is not JSON. */
function parseString(source: string): string {
  return source.includes('\\') ? JSON.parse(source) : source.slice(1, -1)
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

const POINT = '.'.charCodeAt(0)
const PLUS = '+'.charCodeAt(0)
const SMALL_E = 'e'.charCodeAt(0)
const LARGE_E = 'E'.charCodeAt(0)

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character >= ZERO && character <= NINE) continue
    if (character === POINT || character === SMALL_E || character === LARGE_E) continue
    if (character !== PLUS && character !== MINUS) break
  }
  return at
}

/** Does nothing if the number is not part of the value because a name on its path occurs again later. */
function replaceNumber(holder: [unknown], { source, path }: FoundNumber): void {
  let container: unknown
  let lastKey: number | string = 0
  let value: unknown = holder
  for (const key of path) {
    container = value
    lastKey = key
    value = valueAt(container, key)
  }
  if (value === Number(source))
    (container as Record<number | string, unknown>)[lastKey] = new NumberText(source)
}

function valueAt(container: unknown, key: number | string): unknown {
  if (typeof key === 'number') return Array.isArray(container) ? container[key] : undefined
  return isObject(container) && Object.hasOwn(container, key) ? container[key] : undefined
}

/** Two decimals of at most 15 digits never have the same double, unless they are equal or it is 0. */
const MAX_DISTINCT_LENGTH = 15
const NONZERO_MANTISSA = /^[^eE]*[1-9]/

/** Whether the double of a number is an integer that differs from the number, or that is too large to be exact. */
function isRounded(source: string): boolean {
  const value = Number(source)
  if (!Number.isInteger(value)) return Math.abs(value) === Number.POSITIVE_INFINITY
  if (!Number.isSafeInteger(value)) return true
  if (value === 0) return NONZERO_MANTISSA.test(source)
  return source.length > MAX_DISTINCT_LENGTH && !hasDigitsOf(source, value)
}

/** Whether both have the same digits, apart from zeros at either end. */
function hasDigitsOf(source: string, integer: number): boolean {
  const digits = source
    .replace(/[eE].*/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
  const expected = String(Math.abs(integer)).replace(/0+$/, '')
  return digits.startsWith(expected) && !/[1-9]/.test(digits.slice(expected.length))
}
