/** An int64 id as callers may pass it. A number must be a safe integer, a string its decimal digits. */
export type IdInput = bigint | number | string

/** The type in which a client returns ids. */
export type IdKind = 'bigint' | 'string'

/** A value of the contract as the client accepts it: with any type of id, and `undefined` for an absent field. */
export type Input<Value> = Value extends bigint
  ? IdInput
  : Value extends readonly (infer Item)[]
    ? readonly Input<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Input<Value[Name]> | AbsentValue<Value, Name> }
      : Value

/** `undefined` if the field is optional. */
export type AbsentValue<Value, Name extends keyof Value> =
  object extends Pick<Value, Name> ? undefined : never

/** A value of the contract as the client returns it. */
export type Output<Value, Ids extends IdKind> = Ids extends 'string' ? WithStringIds<Value> : Value

type WithStringIds<Value> = Value extends bigint
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly WithStringIds<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: WithStringIds<Value[Name]> }
      : Value

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** The decimal digits of an id. Throws `TypeError` or `RangeError` if the value is not an int64. */
export function int64Digits(name: string, value: unknown): string {
  const id = toBigInt(value)
  if (id === undefined) {
    throw new TypeError(
      `${name} must be a bigint, a safe integer or a string of digits, got ${shown(value)} (${typeof value})`,
    )
  }
  if (id < MIN_INT64 || id > MAX_INT64) throw new RangeError(`${name} must be an int64, got ${id}`)
  return String(id)
}

/** `undefined` unless the value is exactly an integer: rounded numbers are rejected. */
export function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  const isInteger = typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isSafeInteger(value)
  return isInteger ? BigInt(value as string | number) : undefined
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value)
}
