import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { type Job, Scheduler } from '../../src/service/scheduler.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** A job whose runs end when the test says so. */
class ControlledJob implements Job {
  readonly name = 'controlled'
  readonly intervalMs = 100
  runs = 0
  signal: AbortSignal | undefined
  #current = Promise.withResolvers<void>()

  readonly run = (signal: AbortSignal): Promise<void> => {
    this.runs++
    this.signal = signal
    this.#current = Promise.withResolvers()
    return this.#current.promise
  }

  async succeed(): Promise<void> {
    this.#current.resolve()
    await settle()
  }

  async fail(message: string): Promise<void> {
    this.#current.reject(new Error(message))
    await settle()
  }
}

/** Runs everything that waits for promises, which fake timers do not hold back. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

test('a job runs at its interval', async () => {
  const job = new ControlledJob()
  const scheduler = new Scheduler([job], () => {})
  scheduler.start()
  expect(job.runs).toBe(0)
  for (let run = 1; run <= 3; run++) {
    jest.advanceTimersByTime(99)
    expect(job.runs).toBe(run - 1)
    jest.advanceTimersByTime(1)
    expect(job.runs).toBe(run)
    await job.succeed()
  }
  await scheduler.stop()
})

test('runs of a job never overlap, and a slow job does not delay another one', async () => {
  const slow = new ControlledJob()
  const other = new ControlledJob()
  const scheduler = new Scheduler([slow, other], () => {})
  scheduler.start()
  jest.advanceTimersByTime(100)
  await other.succeed()
  jest.advanceTimersByTime(100)
  expect([slow.runs, other.runs]).toEqual([1, 2])
  await slow.succeed()
  jest.advanceTimersByTime(100)
  expect(slow.runs).toBe(2)
})

test('a job that is run between its turns joins the run under way', async () => {
  const job = new ControlledJob()
  const scheduler = new Scheduler([job], () => {})
  const first = scheduler.run(job)
  expect(scheduler.run(job)).toBe(first)
  expect(job.runs).toBe(1)
  await job.succeed()
  void scheduler.run(job)
  expect(job.runs).toBe(2)
})

test('a failure is reported once until the job has succeeded again', async () => {
  const job = new ControlledJob()
  const failures: string[] = []
  const scheduler = new Scheduler([job], ({ name }, error) => failures.push(`${name}: ${error}`))
  const turns = ['first', 'second', undefined, 'third', 'fourth']
  for (const message of turns) {
    void scheduler.run(job)
    await (message === undefined ? job.succeed() : job.fail(message))
  }
  expect(failures).toEqual(['controlled: Error: first', 'controlled: Error: third'])
})

test('stop aborts the run under way, waits for it, and starts no more runs', async () => {
  const job = new ControlledJob()
  const scheduler = new Scheduler([job], () => {})
  scheduler.start()
  jest.advanceTimersByTime(100)
  let isStopped = false
  const stopping = scheduler.stop().then(() => {
    isStopped = true
  })
  await settle()
  expect([job.signal?.aborted, isStopped]).toEqual([true, false])
  await job.succeed()
  await stopping
  jest.advanceTimersByTime(1_000)
  await scheduler.run(job)
  expect(job.runs).toBe(1)
})

test('a job that throws before its first await runs again', async () => {
  let runs = 0
  const run = () => {
    runs++
    throw new Error('broken')
  }
  const job: Job = { name: 'broken', intervalMs: 100, run }
  const scheduler = new Scheduler([job], () => {})
  await scheduler.run(job)
  await scheduler.run(job)
  expect(runs).toBe(2)
})
