export interface PoliteSample {
  /** 0 if there was no response. */
  readonly status: number
  readonly ms: number
}

/** The address to send to, or the command to report the measurements. */
export type PoliteOrder = { readonly address: string; readonly key: string } | 'tell'

export interface PoliteFigures {
  readonly requests: number
  readonly medianMs: number
  readonly slowestMs: number
  /** Statuses other than 200. */
  readonly failed: readonly number[]
}

/** How many times slower than on the idle service a well-behaved client may be served during an attack. */
export const MAX_TIMES_SLOWER = 40

/** Constantly reads and updates one pet, and measures the time. */
export class PoliteClient {
  readonly #worker = new Worker(new URL('./polite-worker.ts', import.meta.url).href)

  constructor(address: string, key: string) {
    this.#order({ address, key })
  }

  /** The measurements since the last call; waits for at least this many requests. */
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
