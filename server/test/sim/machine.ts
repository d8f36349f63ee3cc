import type { Handler, Listener } from '@petstore/wire'
import type { WebhookSender } from '../../src/core/webhooks/webhook-store.ts'
import { type RunningService, startService } from '../../src/service/compose.ts'
import { readConfig } from '../../src/service/config.ts'
import { answerReads, type SqliteReaderData } from '../../src/store/sqlite/read-connection.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import type { ReaderAnswer, ReaderMessage, ReaderPort, ReaderWorker } from '../../src/store/workers.ts'
import { logTo } from '../support/log-to.ts'
import type { SimulatedDisk } from './disk.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Short, so that the log is restarted often. */
const MAX_LOG_BYTES = 150_000
/** How long a message to or from a worker takes. */
const MESSAGE_MS = 0.05
const CONFIG = readConfig({ port: '0', metricsPort: 'off', logRequests: 'none' }, {})

interface MachineParts {
  readonly time: VirtualTime
  readonly disk: SimulatedDisk
  readonly webhookSender: WebhookSender
  /** Called for each line of the log of the service. */
  readonly onLogLine: (line: string) => void
}

/** Runs the service, without sockets, threads or child processes. */
export class Machine {
  /** Answers requests while the service listens. */
  handler: Handler | undefined
  store: Store | undefined
  /** The service ends by itself, because the disk has failed. */
  isEnding = false
  openRequests = 0
  readonly #parts: MachineParts
  readonly #endListeners = new Set<() => void>()
  #service: RunningService | undefined

  constructor(parts: MachineParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    const { time, disk, webhookSender, onLogLine } = this.#parts
    const { processNumber } = time
    this.isEnding = false
    const store = openSqliteStore(disk.path, {
      exclusive: true,
      maxLogBytes: MAX_LOG_BYTES,
      clock: time.wallClock,
      disk,
      startReader: (data) => startReader(data, this.#parts),
      onFlushFailure: () => {
        this.isEnding = true
        void this.#service?.stop().catch(() => {})
      },
    })
    const service = await startService(CONFIG, store, {
      clock: time.wallClock,
      webhookSender,
      retryDelaysMs: [100, 1_000],
      logOutput: logTo(onLogLine),
      listen: (handler) => this.#listen(handler),
    })
    if (processNumber !== time.processNumber) return
    this.store = store
    this.#service = service
  }

  #listen(handler: Handler): Listener {
    this.handler = handler
    return {
      port: 1,
      load: () => ({ connections: this.openRequests, requests: this.openRequests }),
      stop: async (graceMs) => {
        this.handler = undefined
        const deadline = this.#parts.time.now + graceMs
        while (this.openRequests > 0 && this.#parts.time.now < deadline) await Bun.sleep(1)
      },
    }
  }

  /** Stops as at SIGTERM. */
  async stop(): Promise<void> {
    await this.#service?.stop()
    this.#parts.disk.flushByCheckpoint()
  }

  /** Calls the listener when the process ends; returns a function that forgets the listener. */
  onEnd(listener: () => void): () => void {
    this.#endListeners.add(listener)
    return () => this.#endListeners.delete(listener)
  }

  /** Ends the process at once. */
  end({ losesPower }: { readonly losesPower: boolean }): void {
    const { time, disk } = this.#parts
    this.handler = undefined
    this.store = undefined
    this.#service = undefined
    this.openRequests = 0
    time.endProcess()
    disk.restart({ losesPower })
    for (const listener of this.#endListeners) listener()
    this.#endListeners.clear()
  }
}

/** Runs the reader worker in this thread. */
function startReader(data: SqliteReaderData, { time, disk }: MachineParts): ReaderWorker {
  let receive: (message: ReaderMessage) => void = () => {}
  let receiveAnswer: (answer: ReaderAnswer) => void = () => {}
  const port: ReaderPort = {
    postMessage: (answer) => {
      const copy = structuredClone(answer)
      time.afterForProcess(MESSAGE_MS, () => receiveAnswer(copy))
    },
    on: (_, listener) => {
      receive = listener
    },
  }
  answerReads(data, port)
  return {
    postMessage: (message) => {
      time.afterForProcess(MESSAGE_MS, () => {
        receive(message)
        if (data.copiesLog === true) disk.flushByCheckpoint()
      })
    },
    on: (event: string, listener: (value: never) => void) => {
      if (event === 'message') receiveAnswer = listener as (answer: ReaderAnswer) => void
    },
    ref: () => {},
    unref: () => {},
    terminate: async () => 0,
  }
}
