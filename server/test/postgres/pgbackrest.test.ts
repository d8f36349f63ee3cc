import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingPackage } from '../../../wire/test/debian-package.ts'
import { openStore } from '../../src/store/open-store.ts'
import { petstore } from '../cli/petstore.ts'
import { printedBlocks } from '../cli/printed-commands.ts'
import { change, pet } from '../store/plain-rows.ts'
import { addPets } from '../support/add-pets.ts'
import { freePort } from '../support/free-port.ts'
import { missingDebianPostgres } from '../support/postgres-server.ts'
import { runProgram } from '../support/run-program.ts'
import { until } from '../support/until.ts'
import { stockOf } from '../support/whole-store.ts'

setDefaultTimeout(180_000)

const missing =
  process.getuid?.() === 0
    ? ((await missingDebianPostgres()) ?? (await missingPackage('pgbackrest')))
    : 'only root can act as the user postgres'
if (missing !== undefined) console.warn(`skipped: ${missing}`)

const BINARIES = '/usr/lib/postgresql/15/bin'
const port = freePort()
const databaseUrl = `postgres://postgres@127.0.0.1:${port}/postgres`
let folder = ''
const data = () => join(folder, 'main')
const inFolder = (text: string) =>
  text
    .replaceAll('/mnt/backup/pgbackrest', join(folder, 'repo'))
    .replaceAll('/var/lib/postgresql/15/main', data())
    .replaceAll('pg_ctlcluster 15 main', `${BINARIES}/pg_ctl -w -D ${data()} -l ${folder}/log`)

/** Runs commands of docs/backup.md as postgres, with the paths of this test. */
async function asPostgres(commands: string): Promise<void> {
  const environment = {
    PATH: '/usr/bin:/bin',
    PGBACKREST_CONFIG: join(folder, 'pgbackrest.conf'),
    PGBACKREST_LOG_PATH: folder,
    PGBACKREST_LOCK_PATH: join(folder, 'lock'),
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_SOCKET_PATH: folder,
  }
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const { exitCode, stderr, stdout } = await runProgram(
    [
      ...['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', 'env', '-i', ...variables],
      ...['/bin/sh', '-e', '-c', inFolder(commands)],
    ],
    { cwd: '/' },
  )
  expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, ''])
}

afterEach(async () => {
  if (folder === '') return
  await asPostgres('pg_ctlcluster 15 main stop -m immediate || true')
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(missing !== undefined)(
  'docs/backup.md: pgbackrest restores the moment before a mistake, exactly as printed',
  async () => {
    const [config = '', settings = ''] = printedBlocks('PostgreSQL: every moment', 'ini')
    const [backUp = '', restore = ''] = printedBlocks('PostgreSQL: every moment', 'sh')
    folder = mkdtempSync(join(tmpdir(), 'petstore-pgbackrest-'))
    for (const name of ['repo', 'lock']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'pgbackrest.conf'), inFolder(config))
    chmodSync(folder, 0o755)
    await runProgram(['chown', '-R', 'postgres:postgres', folder], { cwd: '/' })
    await asPostgres(`${BINARIES}/initdb -D ${data()} -U postgres -A trust --no-sync`)
    appendFileSync(
      join(data(), 'postgresql.conf'),
      `${settings}\nport = ${port}\nunix_socket_directories = '${folder}'\n`,
    )
    await asPostgres('pg_ctlcluster 15 main start')
    await asPostgres(backUp)

    const store = await openStore(databaseUrl, { tables: 'migrate' })
    await addPets(store, [pet(1n, 0)])
    await store.changeStock([change(1n, 7)])
    await Bun.sleep(1_100)
    const moment = new Date()
    await Bun.sleep(1_100)
    await store.changeStock([change(1n, 0)])
    await store.close()
    await asPostgres(`psql -h ${folder} -p ${port} -U postgres -c 'SELECT pg_switch_wal()'`)

    const target = moment.toISOString().replace('T', ' ').replace('Z', '+00')
    await asPostgres(restore.replace('2027-01-31 17:00:00+00', target))
    await until(async () => {
      const sql = new Bun.SQL({ adapter: 'postgres', url: databaseUrl, max: 1 })
      const [row] = await sql`SELECT pg_is_in_recovery() AS is_recovering`.finally(() => sql.close())
      return row.is_recovering === false
    })
    const renewed = await petstore(['restore', '--new-identity'], { env: { DATABASE_URL: databaseUrl } })
    expect([renewed.exitCode, renewed.stderr]).toEqual([0, ''])
    const restored = await openStore(databaseUrl, { tables: 'require_current_tables' })
    expect(await stockOf(restored)).toEqual([expect.objectContaining({ petId: 1n, quantity: 7 })])
    await restored.close()
  },
)
