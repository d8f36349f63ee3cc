/** Bun loads this file before the test files, because bunfig.toml names it. */
import { afterEach, beforeEach } from 'bun:test'
import fc from 'fast-check'
import { randomFrom } from '../../scripts/torture-task.ts'
import { testBegins, testEnds } from './stop-after-test.ts'

/** Each test begins with the same random numbers, so a failure repeats. `TEST_SEED=2 npx bun test …` tries others. */
const SEED = Number(Bun.env.TEST_SEED ?? '1')

let random = randomFrom(SEED)
Math.random = () => random()
fc.configureGlobal({ seed: SEED })

beforeEach(() => {
  random = randomFrom(SEED)
  testBegins()
})
afterEach(testEnds)
