import type { LogOutput } from '../../src/telemetry/logger.ts'

/** A log whose lines are passed on as soon as they are written. */
export function logTo(write: (line: string) => void, isTerminal = false): LogOutput {
  return {
    stream: { write, flush: (onFlushed) => onFlushed(), flushSync: () => {}, on: () => {} },
    isTerminal,
  }
}
