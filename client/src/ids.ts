/** An int64 id as callers may pass it. A number must be a safe integer. */
export type IdInput = bigint | number

/** A value of the contract as the client accepts it: with any type of id, and `undefined` for an absent field. */
export type Input<Value> = Value extends bigint
  ? IdInput
  : Value extends readonly (infer Item)[]
    ? readonly Input<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Input<Value[Name]> | AbsentValue<Value, Name> }
      : Value

type AbsentValue<Value, Name extends keyof Value> = object extends Pick<Value, Name> ? undefined : never
