import { useSyncExternalStore } from 'preact/compat'

/** A value that others can follow. `get` returns the same object until the value changes. */
export interface Readable<Value> {
  readonly get: () => Value
  /** Calls back after every change. Returns a function that ends this. */
  readonly subscribe: (listener: () => void) => () => void
}

/** A value that only its own class changes. */
export class State<Value> implements Readable<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
  }

  readonly get = (): Value => this.#value

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  protected setValue(value: Value): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }
}

/** A value that anybody may change. */
export class Observable<Value> extends State<Value> {
  set(value: Value): void {
    this.setValue(value)
  }
}

export function useReadable<Value>({ subscribe, get }: Readable<Value>): Value {
  return useSyncExternalStore(subscribe, get)
}
