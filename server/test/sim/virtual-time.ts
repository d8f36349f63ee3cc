import { drainMicrotasks } from 'bun:jsc'
import { Random } from './random.ts'

/** The time that a turn of the event loop takes. */
const TURN_MS = 0.02

interface Task {
  readonly at: number
  /** Tasks that are due at the same time run in the order in which they were scheduled. */
  readonly order: number
  /** Tasks of the simulated process end with it. */
  readonly belongsToProcess: boolean
  readonly run: () => void
}

/**
 * An event loop whose time passes only when nothing is left to do. While it is installed, it replaces the timers, clocks and
 * random numbers of this process, so that a seed determines the order of everything that happens.
 */
export class VirtualTime {
  /** Milliseconds, by the clock that nobody sets. */
  now = 0
  /** How far the wall clock is ahead of `now`. */
  #wallOffset: number
  /** The sum of all steps forward of the wall clock. */
  #steppedMs = 0
  /** Counts the ends of the simulated process. What belongs to an earlier process has ended. */
  processNumber = 0
  readonly #random: Random
  #tasks: Task[] = []
  #immediates: Task[] = []
  /** The rest of the current turn. */
  #turn: Task[] = []
  #tasksScheduled = 0

  constructor(startTime: number, seed: number) {
    this.#wallOffset = startTime
    this.#random = new Random(seed)
  }

  readonly wallClock = (): number => Math.floor(this.now + this.#wallOffset)

  /** Sets the wall clock forward, or back. */
  stepWallClock(ms: number): void {
    this.#wallOffset += ms
    this.#steppedMs += Math.max(0, ms)
  }

  /** The time that seems to have passed by a wall clock that is never set back. */
  get elapsed(): number {
    return this.now + this.#steppedMs
  }

  /** Schedules work of the world around the simulated process. */
  after(ms: number, run: () => void): void {
    this.#add(ms, run, false)
  }

  /** Schedules work that ends with the simulated process, such as the end of its system call. */
  afterForProcess(ms: number, run: () => void): () => void {
    return this.#add(ms, run, true)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Nothing of the simulated process happens any more. */
  endProcess(): void {
    this.processNumber++
    const isOfWorld = ({ belongsToProcess }: Task) => !belongsToProcess
    this.#tasks = this.#tasks.filter(isOfWorld)
    this.#turn = this.#turn.filter(isOfWorld)
    this.#immediates = []
  }

  /** Runs one callback and every promise reaction that follows from it. */
  step(): void {
    drainMicrotasks()
    if (this.#turn.length === 0) this.#startTurn()
    this.#turn.shift()?.run()
    drainMicrotasks()
  }

  /** Runs until the condition holds; returns false if that takes longer than `maxMs`. */
  runUntil(condition: () => boolean, maxMs: number): boolean {
    const deadline = this.now + maxMs
    drainMicrotasks()
    while (!condition()) {
      if (this.now > deadline) return false
      this.step()
    }
    return true
  }

  runFor(ms: number): void {
    let isOver = false
    this.after(ms, () => {
      isOver = true
    })
    this.runUntil(() => isOver, Number.POSITIVE_INFINITY)
  }

  /** Due timers and finished system calls run first, then what `setImmediate` has scheduled. */
  #startTurn(): void {
    const [first] = this.#tasks
    if (this.#immediates.length > 0) this.now += TURN_MS
    else if (first === undefined) throw new Error('nothing is left that could happen')
    else this.now = Math.max(this.now + TURN_MS, first.at)
    const dueCount = this.#tasks.findIndex(({ at }) => at > this.now)
    const due = this.#tasks.splice(0, dueCount === -1 ? this.#tasks.length : dueCount)
    this.#turn = [...due, ...this.#immediates]
    this.#immediates = []
  }

  #add(ms: number, run: () => void, belongsToProcess: boolean): () => void {
    const task = { at: this.now + Math.max(0, ms), order: this.#tasksScheduled++, belongsToProcess, run }
    let index = this.#tasks.length
    while (index > 0 && (this.#tasks[index - 1]?.at ?? 0) > task.at) index--
    this.#tasks.splice(index, 0, task)
    return () => this.#remove(task)
  }

  #addImmediate(run: () => void): () => void {
    const task = { at: this.now, order: this.#tasksScheduled++, belongsToProcess: true, run }
    this.#immediates.push(task)
    return () => this.#remove(task)
  }

  #remove(task: Task): void {
    for (const tasks of [this.#tasks, this.#turn, this.#immediates]) {
      const index = tasks.indexOf(task)
      if (index !== -1) tasks.splice(index, 1)
    }
  }

  /** Replaces the globals; returns a function that restores them. */
  install(): () => void {
    const random = this.#random
    const fillWithRandom = <Bytes extends Uint8Array>(bytes: Bytes): Bytes => {
      for (let index = 0; index < bytes.length; index++) bytes[index] = random.integer(0, 255)
      return bytes
    }
    const uuid = () => {
      const digits = Buffer.from(fillWithRandom(new Uint8Array(16))).toString('hex')
      return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    }
    const clear = (timer: VirtualTimer | undefined) => timer?.close()
    const restorations = [
      replace(globalThis, {
        setTimeout: (run: Callback, ms = 0, ...values: unknown[]) => this.#timer(run, ms, values, false),
        setInterval: (run: Callback, ms = 0, ...values: unknown[]) => this.#timer(run, ms, values, true),
        setImmediate: (run: Callback, ...values: unknown[]) =>
          new VirtualTimer(this.#addImmediate(() => run(...values))),
        clearTimeout: clear,
        clearInterval: clear,
        clearImmediate: clear,
      }),
      replace(Bun, {
        sleep: (ms: number) => new Promise<void>((resolve) => this.afterForProcess(ms, resolve)),
      }),
      replace(performance, { now: () => this.now }),
      replace(Date, { now: this.wallClock }),
      replace(Math, { random: random.next }),
      replace(crypto, { randomUUID: uuid, getRandomValues: fillWithRandom }),
    ]
    return () => {
      for (const restore of restorations) restore()
    }
  }

  #timer(run: Callback, ms: number, values: readonly unknown[], repeats: boolean): VirtualTimer {
    const timer = new VirtualTimer(() => {})
    const start = () => {
      timer.cancel = this.afterForProcess(Math.max(1, ms), () => {
        if (repeats) start()
        run(...values)
      })
    }
    start()
    return timer
  }
}

type Callback = (...values: readonly unknown[]) => void

/** The part of a Timer that the service uses. */
class VirtualTimer {
  cancel: () => void

  constructor(cancel: () => void) {
    this.cancel = cancel
  }

  close(): void {
    this.cancel()
  }

  unref(): this {
    return this
  }
}

function replace(target: object, replacements: Readonly<Record<string, unknown>>): () => void {
  const originals = Object.keys(replacements).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  )
  Object.assign(target, replacements)
  return () => {
    for (const [name, original] of originals) {
      // The original may be a method of the prototype.
      if (original === undefined) Reflect.deleteProperty(target, name)
      else Reflect.set(target, name, original.value)
    }
  }
}
