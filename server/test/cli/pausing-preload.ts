/**
 * Preloaded into the program by `petstorePausedAt`. When the program prints PAUSE_AT on standard error, it
 * blocks until the FIFO at PAUSE_FIFO is opened for writing and closed again.
 */
import { readFileSync, writeSync } from 'node:fs'

const { PAUSE_AT = '', PAUSE_FIFO = '' } = Bun.env
let hasPaused = false

function waitForWriter(): void {
  for (;;) {
    try {
      readFileSync(PAUSE_FIFO)
      return
    } catch (error) {
      // A signal that arrives during the pause may interrupt the read.
      if (!(error instanceof Error && 'code' in error && error.code === 'EINTR')) throw error
    }
  }
}

process.stderr.write = (text: string | Uint8Array) => {
  const shown = typeof text === 'string' ? text : new TextDecoder().decode(text)
  // Synchronous, so that the text is on the terminal before the pause begins.
  writeSync(process.stderr.fd, shown)
  if (!hasPaused && shown.includes(PAUSE_AT)) {
    hasPaused = true
    waitForWriter()
  }
  return true
}
