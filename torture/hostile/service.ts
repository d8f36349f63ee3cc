import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { petstore } from '../../server/test/cli/petstore.ts'
import { serveTuned } from '../../server/test/cli/running-petstore.ts'
import { parsePrometheusText } from '../../server/test/support/prometheus-text.ts'
import type { Target } from './attacks.ts'

/** The real program in its own process, so that its memory and connections can be measured. */
export interface HostileService extends Target {
  readonly address: string
  /** Imports this many pets while it runs. */
  stock(pets: number): Promise<void>
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  stop(): Promise<void>
}

export async function startHostileService(
  settings: Readonly<Record<string, string>> = {},
): Promise<HostileService> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-hostile-'))
  const limits = ['--per-minute', '100000000', '--per-day', '100000000']
  await petstore(['migrate'], { cwd: folder })
  const created = await petstore(['keys', 'create', '--name', 'k', '--plan', 'enterprise', ...limits], {
    cwd: folder,
  })
  const env = {
    METRICS_PORT: '0',
    ...settings,
  }
  const connectionLimits = {
    // All attackers have one address, and tests wait for the end of the silent ones.
    maxConnectionsPerAddress: 10_000,
    // Long enough to open all silent connections first, short enough for a test to wait for their end.
    firstByteTimeoutSeconds: 60,
    keepAliveSeconds: 10,
  }
  const running = await serveTuned({ service: { connectionLimits } }, { cwd: folder, env })
  const metrics = /"metrics":"([^"]+)"/.exec(running.output())?.[1] ?? ''
  return {
    address: running.address,
    port: Number(new URL(running.address).port),
    key: created.stdout.trim(),
    stock: async (pets) => {
      const rows = Array.from({ length: pets }, (_, index) => `${index + 1},Pet,1,available,${index}`)
      const file = join(folder, 'pets.csv')
      await Bun.write(file, `petId,name,categoryId,status,quantity\n${rows.join('\n')}\n`)
      const { exitCode, stderr } = await petstore(['import', 'pets', file], { cwd: folder })
      if (exitCode !== 0) throw new Error(stderr)
    },
    metric: async (name, labels = {}) => {
      const families = parsePrometheusText(await (await fetch(metrics)).text())
      const samples = [...families.values()].flatMap((family) => family.samples)
      const found = samples.find((one) => one.name === name && Bun.deepEquals(one.labels, labels))
      return found?.value ?? 0
    },
    stop: async () => {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
