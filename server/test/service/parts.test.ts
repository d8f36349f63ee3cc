import { expect, test } from 'bun:test'
import { type Part, startParts, stopParts } from '../../src/service/parts.ts'

/** Parts that record when they start and stop; `failing` names the steps that throw. */
function recordedParts(log: string[], failing: readonly string[] = []): Part[] {
  const step = (text: string) => () => {
    log.push(text)
    if (failing.includes(text)) throw new Error(text)
  }
  return [
    { name: 'store', stop: step('close store') },
    { name: 'jobs', start: step('start jobs'), stop: step('stop jobs') },
    { name: 'listener', start: step('start listener'), stop: step('stop listener') },
  ]
}

test('parts start in order and stop in reverse order', async () => {
  const log: string[] = []
  const parts = recordedParts(log)
  await startParts(parts)
  await stopParts(parts, () => {})
  expect(log).toEqual(['start jobs', 'start listener', 'stop listener', 'stop jobs', 'close store'])
})

test('if a part fails to start, the parts started before it are stopped, and the store stays open', async () => {
  const log: string[] = []
  const parts = recordedParts(log, ['start listener', 'stop jobs'])
  const error = await startParts(parts).catch((thrown: unknown) => thrown)
  expect(String(error)).toBe('Error: start listener')
  expect(log).toEqual(['start jobs', 'start listener', 'stop jobs'])
})

test('a part that fails to stop does not keep the others from stopping', async () => {
  const log: string[] = []
  const parts = recordedParts(log, ['stop listener', 'stop jobs'])
  const failed: string[] = []
  const error = await stopParts(parts, ({ name }) => failed.push(name)).catch((thrown: unknown) => thrown)
  expect(log).toEqual(['stop listener', 'stop jobs', 'close store'])
  expect(failed).toEqual(['listener', 'jobs'])
  expect(String(error)).toBe('Error: stop listener')
})
