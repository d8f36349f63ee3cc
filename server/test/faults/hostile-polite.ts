export interface PoliteSample {
  /** 0 where there was no answer. */
  readonly status: number
  readonly ms: number
}

/** Where to begin to send, or to tell what was measured. */
export type PoliteOrder = { readonly address: string; readonly key: string } | 'tell'

export interface PoliteFigures {
  readonly requests: number
  readonly medianMs: number
  readonly slowestMs: number
  /** What was not answered with 200. */
  readonly failed: readonly number[]
}

/** How many times slower than on the quiet service a well-behaved client may be answered in the middle of an attack. */
export const MAX_TIMES_SLOWER = 40

/** Reads and updates one pet all the time, and measures how long that takes. */
export class PoliteClient {
  readonly #worker = new Worker(new URL('./hostile-polite-worker.ts', import.meta.url).href)

  constructor(address: string, key: string) {
    this.#order({ address, key })
  }

  /** What it saw since the last time, at least so many requests: it is waited for them. */
  async figures(least: number): Promise<PoliteFigures> {
    const samples: PoliteSample[] = []
    for (;;) {
      samples.push(...(await this.#told()))
      if (samples.length >= least) break
      await Bun.sleep(10)
    }
    const times = samples.map(({ ms }) => ms).sort((one, other) => one - other)
    return {
      requests: samples.length,
      medianMs: times[Math.floor(times.length / 2)] ?? Number.NaN,
      slowestMs: times.at(-1) ?? Number.NaN,
      failed: samples.map(({ status }) => status).filter((status) => status !== 200),
    }
  }

  end(): void {
    this.#worker.terminate()
  }

  #told(): Promise<readonly PoliteSample[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly PoliteSample[]>()
    this.#worker.onmessage = ({ data }: MessageEvent<readonly PoliteSample[]>) => resolve(data)
    this.#worker.onerror = ({ message }) => reject(new Error(message))
    this.#order('tell')
    return promise
  }

  #order(order: PoliteOrder): void {
    this.#worker.postMessage(order)
  }
}
