// A well-behaved client on its own thread, so that it measures the service and not the attacker.
import type { PoliteOrder, PoliteSample } from './polite.ts'

declare const self: Worker

const PAUSE_MS = 3

let samples: PoliteSample[] = []

async function sendForEver({ address, key }: { address: string; key: string }): Promise<never> {
  for (let sent = 0; ; sent++) {
    const began = performance.now()
    const update = { method: 'PATCH', body: `{"quantity":${sent}}` }
    const response = await fetch(`${address}/v1/inventory/1`, {
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(sent % 4 === 0 ? update : {}),
    }).catch(() => undefined)
    await response?.text()
    samples.push({ status: response?.status ?? 0, ms: performance.now() - began })
    await Bun.sleep(PAUSE_MS)
  }
}

self.onmessage = ({ data }: MessageEvent<PoliteOrder>) => {
  if (data === 'tell') {
    self.postMessage(samples)
    samples = []
  } else void sendForEver(data)
}
