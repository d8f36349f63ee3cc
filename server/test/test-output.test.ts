import { expect, test } from 'bun:test'
import { TestOutput } from '../scripts/test-output.ts'

const read = (text: string) => {
  const output = new TestOutput()
  const failures = text.split('\n').filter((line) => output.add(line))
  return { output, failures }
}

test('counts tests, and prints nothing of files that pass', () => {
  const { output, failures } = read('a.test.ts:\nseed 5\n(pass) one [1ms]\n(skip) two\n 1 pass')
  expect(failures).toEqual([])
  expect([output.passed, output.skipped, output.failed]).toEqual([1, 1, 0])
})

test('keeps the output of a file with a failure, wherever the runner prints it', () => {
  const { output, failures } = read(
    'a.test.ts:\nerror: 1 is not 2\n\nb.test.ts:\nnoise\n(pass) other [1ms]\n\na.test.ts:\n(pass) one [1ms]\n(fail) two [2ms]',
  )
  expect(failures).toEqual(['(fail) two [2ms]'])
  expect(output.failureText).toBe('\na.test.ts:\nerror: 1 is not 2\n\n(fail) two [2ms]')
})

test('a worker that crashes and an error between tests are failures', () => {
  const crash = '✗ a.test.ts (worker crashed: exit code 3)'
  expect(read(`a.test.ts:\n${crash}`).failures).toEqual([crash])
  expect(read('a.test.ts:\n# Unhandled error between tests').failures).toHaveLength(1)
})

test('if the runner fails without a failed test, everything is printed', () => {
  expect(read('error: unknown option\na.test.ts:\nseed 5').output.failureText).toContain(
    'error: unknown option',
  )
})
