import { spyOn } from 'bun:test'
import type { Listener, ListenOptions } from '../src/listen.ts'
import { listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'

export interface HandClock {
  readonly listener: Listener
  /** Lets this many seconds of the listener pass at once. */
  pass(seconds: number): void
  /** Resolves when the listener has handled all bytes that were sent to it before. */
  settle(): Promise<void>
}

/** Starts a listener whose clock is moved by the test. */
export function listenByHand(
  answer: Parameters<typeof listenWith>[0],
  options: Partial<ListenOptions> = {},
): HandClock {
  const timers = spyOn(globalThis, 'setInterval')
  // Longer than any test takes.
  const listener = listenWith(answer, { secondMs: 600_000, ...options })
  const tick = timers.mock.calls[0]?.[0] as () => void
  timers.mockRestore()
  return {
    listener,
    pass: (seconds) => {
      for (let passed = 0; passed < seconds; passed++) tick()
    },
    settle: () => settle(listener),
  }
}

/** Resolves when a listener without TLS has handled all bytes that were sent to it before. */
export async function settle({ port }: Listener): Promise<void> {
  const socket = await HostileSocket.open(port)
  socket.send('GET /settle HTTP/1.1\r\nHost: a\r\n\r\n')
  await socket.answer()
  socket.end()
}
