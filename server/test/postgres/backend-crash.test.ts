import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import { findPgBouncer, PgBouncer } from '../support/pgbouncer.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

const succeeds = (work: () => Promise<unknown>) =>
  work().then(
    () => true,
    () => false,
  )

/** A crash ends all processes of the server, so this process shows that the server has noticed the crash. */
const CHECKPOINTER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const pgbouncer = await findPgBouncer()
if (typeof pgbouncer === 'string') console.log(pgbouncer)

test.skipIf(typeof pgbouncer === 'string')(
  'behind PgBouncer, a change after the crash of a backend is seen, although transaction ids are assigned again',
  async () => {
    // A crash loses the ids of asynchronously committed transactions within this time.
    const server = await PostgresServer.start({ wal_writer_delay: '10s' })
    await stockUp(server.url())
    const pooler = await PgBouncer.start([...pgbouncer], server.port)
    const [writer, reader] = [
      await openStore(pooler.url, { tables: 'require_current_tables' }),
      await openStore(pooler.url, { tables: 'require_current_tables' }),
    ]
    const nextId = async () => {
      const [row] = await server.run('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id')
      return BigInt(String(row?.id))
    }
    let quantity = 0
    for (let lost = 0n; lost <= 0n; ) {
      let cursor = await reader.loadStock(() => {})
      const victim = new Bun.SQL({ adapter: 'postgres', url: server.url(), max: 1 })
      await victim.unsafe('SET synchronous_commit = off')
      for (let count = 0; count < 100; count++) await victim.unsafe('SELECT pg_current_xact_id()')
      const [backend] = await victim.unsafe('SELECT pg_backend_pid() AS pid')
      const [checkpointer] = await victim.unsafe(CHECKPOINTER)
      const before = await nextId()
      const changes = await reader.stockChangesSince(cursor)
      if (changes === 'reload') throw new Error('nothing has changed')
      cursor = changes.cursor
      process.kill(backend.pid, 'SIGKILL')
      await until(() => !isRunning(checkpointer.pid))
      await until(() => succeeds(() => server.run('SELECT 1')))
      lost = before - (await nextId())
      quantity++
      await until(() =>
        succeeds(() =>
          writer.changeStock([{ type: 'adjust', changes: [{ petId: 1n, quantity }], keyId: 'key_a', at: 1 }]),
        ),
      )
      // The connection of the reader has not been lost: only the database can report its crash.
      const seen = await reader.stockChangesSince(cursor)
      if (seen !== 'reload') expect(seen.updated).toMatchObject([{ petId: 1n, quantity }])
      await victim.close({ timeout: 0 }).catch(() => {})
    }
    await writer.close()
    await reader.close()
    await pooler.end()
    await server.end()
  },
)
