/** When a connection breaks: before the request arrives, after the service has acted, or within the response. */
export type Fault = 'before' | 'after' | 'midway' | 'none'

/** The real fetch with one planned fault per call, until the faults are used up. */
export class FaultyFetch {
  calls = 0
  readonly #faults: Fault[]
  readonly #afterFault: () => Promise<unknown>

  constructor(faults: readonly Fault[], afterFault: () => Promise<unknown> = async () => {}) {
    this.#faults = [...faults]
    this.#afterFault = afterFault
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.calls++
    const fault = this.#faults.shift() ?? 'none'
    if (fault === 'before') throw new TypeError('the network is down')
    const response = await fetch(url, init)
    if (fault === 'none') return response
    const bytes = await response.bytes()
    await this.#afterFault()
    if (fault === 'after') throw new TypeError('the connection was reset')
    const { status, headers } = response
    return new Response(cutShort(bytes), { status, headers })
  }
}

function cutShort(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let isFirst = true
  return new ReadableStream({
    pull: (controller) => {
      if (!isFirst) return controller.error(new TypeError('the connection was reset'))
      isFirst = false
      controller.enqueue(bytes.subarray(0, bytes.length / 2))
    },
  })
}
