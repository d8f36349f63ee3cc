import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { petstore } from '../../cli/petstore.ts'
import { serve } from '../../cli/running-petstore.ts'
import { stockUp } from '../../postgres/shop.ts'
import { PostgresServer } from '../../support/postgres-server.ts'
import { until } from '../../support/until.ts'
import { canMount, fillDisk, mountSmallDisk, unmount } from './full-disk.ts'

setDefaultTimeout(120_000)

/**
 * Enough for a new data directory, and for the programs, which are copied next to it if their folder is not
 * accessible to others.
 */
const DISK_MB = 220

let folder = ''
let service: Awaited<ReturnType<typeof serve>> | undefined
let server: PostgresServer | undefined
// Also after a test that timed out.
afterEach(async () => {
  await service?.stop()
  await server?.end()
  if (folder === '') return
  unmount(folder)
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(!canMount())(
  "/readyz is 503 and names the disk while PostgreSQL's disk is full, and is 200 again once there is space",
  async () => {
    folder = mkdtempSync(join(tmpdir(), 'petstore-full-'))
    mountSmallDisk(folder, DISK_MB)
    chmodSync(folder, 0o777)
    server = await PostgresServer.start({}, { parent: folder })
    const env = { DATABASE_URL: server.url() }
    const key = await stockUp(env.DATABASE_URL)
    service = await serve([], { cwd: '/', env })
    const { address, call } = service
    const ready = () => fetch(`${address}/readyz`)
    expect((await ready()).status).toBe(200)

    const filler = fillDisk(folder)
    await until(async () => (await ready()).status === 503)
    expect(await (await ready()).text()).toContain('its disk is full; free some space')
    const { exitCode, stdout } = await petstore(['check'], { env })
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('No space left on device')])

    filler.free()
    await until(async () => (await ready()).status === 200)
    const body = JSON.stringify({ quantity: 3 })
    expect((await call('/inventory/1', key, { method: 'PATCH', body })).status).toBe(200)
  },
)
