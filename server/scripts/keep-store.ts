/**
 * Keeps a store of this version as a fixture, so that later versions are tested with it. Run it for each release, with
 * pg_dump and an empty PostgreSQL database: `bun server/scripts/keep-store.ts postgres://…`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SYSTEM_KEY_ID } from '../src/core/stock/command.ts'
import { VERSION } from '../src/core/values/version.ts'
import { newWebhook, WEBHOOK_KINDS } from '../src/core/webhooks/webhook.ts'
import { openStore } from '../src/store/open-store.ts'

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const FIXTURES = fileURLToPath(new URL('../test/fixtures', import.meta.url))

const FILES = [
  'id,name,lowStockAt\n1,Dogs,2\n2,Cats,\n',
  'petId,name,categoryId,status,quantity,barcode,lowStockAt\n1,Beagle puppy,1,available,3,4006381333931,\n2,"Käfig, groß",1,pending,10,,4\n9007199254740993,Siamese kitten,2,sold,0,,\n',
  'id,petId,quantity,shipDate,complete,customer,note\n1,2,4,2026-09-01T10:00:00Z,false,Ada,By the door\n2,2,1,,true,,\n',
  'petId,quantity\n1,2\n',
]

const [postgres] = process.argv.slice(2)
if (postgres === undefined) throw new Error('name an empty PostgreSQL database')
const folder = mkdtempSync(join(tmpdir(), 'petstore-keep-'))
const sqlite = `sqlite:${join(folder, 'petstore.db')}`

function run(command: readonly string[], stdin = ''): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    env: { ...Bun.env, DATABASE_URL: sqlite },
    stdin: Buffer.from(stdin),
  })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}`)
  return stdout
}

async function createWebhook(): Promise<void> {
  const store = await openStore(sqlite, { tables: 'require_current_tables' })
  const at = store.clock()
  const settings = { url: 'https://shop.example/hooks', kinds: WEBHOOK_KINDS, createdAt: at }
  const webhook = newWebhook(settings, await store.latestEventCursor())
  await store.changeStock([{ type: 'create_webhook', webhook, keyId: SYSTEM_KEY_ID, at }])
  await store.close()
}

const petstore = (args: string, stdin?: string) => run([process.execPath, MAIN, ...args.split(' ')], stdin)

try {
  for (const file of FILES) petstore('import -', file)
  petstore('keys create --name Shop --plan pro')
  petstore('keys create --name Reader --plan enterprise --per-minute 5 --per-day 50 --may none')
  petstore('keys pause Reader')
  await createWebhook()
  petstore('orders complete 1')
  petstore('pets remove 9007199254740993 --yes')
  await Bun.write(join(FIXTURES, `${VERSION}-sqlite.db`), petstore('backup -'))
  petstore(`copy --to ${postgres}`)
  const dump = run(['pg_dump', '--inserts', '--no-owner', postgres]).toString()
  // Later versions of psql use these lines; other clients cannot read them.
  await Bun.write(join(FIXTURES, `${VERSION}-postgres.sql`), dump.replaceAll(/^\\(un)?restrict .*\n/gm, ''))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
