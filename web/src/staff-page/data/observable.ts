import { useSyncExternalStore } from 'preact/compat'

/** A value that others can follow. `get` gives the same object until there is another one. */
export interface Readable<Value> {
  readonly get: () => Value
  /** Calls back after every change, until the function that it gives is called. */
  readonly subscribe: (listener: () => void) => () => void
}

export class Observable<Value> implements Readable<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
  }

  readonly get = (): Value => this.#value

  readonly set = (value: Value): void => {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function useReadable<Value>({ subscribe, get }: Readable<Value>): Value {
  return useSyncExternalStore(subscribe, get)
}
