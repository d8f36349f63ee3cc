import { randomFrom } from '../../scripts/torture-task.ts'

/** Choices that the seed determines. */
export class Random {
  readonly next: () => number

  constructor(seed: number) {
    this.next = randomFrom(seed)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  /** From `low` up to and including `high`. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1))
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.integer(0, choices.length - 1)]
    if (chosen === undefined) throw new Error('there is nothing to choose from')
    return chosen
  }

  /** A name, with the probability of its weight. */
  pickWeighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[]
    let rest = this.next() * names.reduce((sum, name) => sum + weights[name], 0)
    for (const name of names) {
      rest -= weights[name]
      if (rest < 0) return name
    }
    return this.pick(names)
  }
}
