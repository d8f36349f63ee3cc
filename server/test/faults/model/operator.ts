import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSecret, toStoredSecret } from '../../../src/core/keys/api-key.ts'
import { SYSTEM_KEY_ID } from '../../../src/core/stock/command.ts'
import { openStore, restoreStore } from '../../../src/store/open-store.ts'
import { type Outcome, petstore } from '../../cli/petstore.ts'
import { putPets } from '../../support/add-pets.ts'
import { operatorOf } from '../../support/operator.ts'
import { historyOf, stockOf } from '../../support/whole-store.ts'
import { listOf } from './answers.ts'
import { keyOf } from './judge.ts'
import { asText } from './outcome.ts'
import { petIdOf } from './plan.ts'
import type { ModelRun } from './run.ts'
import type { Command, PetRow } from './steps.ts'
import { IMPORT_KEY, type ModelKey } from './world.ts'

const FIXED_DATE = fileURLToPath(new URL('fixed-date.ts', import.meta.url))
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const MAX_KEYS = 10

/** Does what an operator does, with the real command line if it has a command, at the time of the test, and in the model. */
export async function runCommand(run: ModelRun, command: Command): Promise<void> {
  switch (command.kind) {
    case 'import':
      return bringIn(run, command)
    case 'remove':
      return remove(run, petIdOf(command.pet))
    case 'order':
      return order(run, command)
    case 'create':
      return create(run, command)
    case 'rotate':
      return rotate(run, command)
    case 'revoke':
      return revoke(run, keyOf(run.world, command.key))
    case 'backup':
      return backUp(run)
  }
}

/** Returns the standard output; throws on another exit code. */
async function cli(run: ModelRun, exitCode: number, args: readonly string[], stdin = ''): Promise<Outcome> {
  const outcome = await petstore(args, {
    env: {
      DATABASE_URL: run.shop.databaseUrl,
      BUN_OPTIONS: `--preload=${FIXED_DATE}`,
      PETSTORE_TEST_NOW: String(run.shop.now),
    },
    stdin,
  })
  if (outcome.exitCode !== exitCode) {
    throw new Error(`petstore ${args.join(' ')} ended with ${outcome.exitCode}: ${outcome.stderr}`)
  }
  return outcome
}

async function bringIn(run: ModelRun, { rows, isBad }: Extract<Command, { kind: 'import' }>): Promise<void> {
  const lines = rows.map(csvLine)
  if (isBad) lines.push('7,No quantity,1,available,none')
  const file = ['petId,name,categoryId,status,quantity', ...lines, ''].join('\n')
  await run.endHolds()
  if (run.store === 'postgres' && !isBad) await importAtTestTime(run, rows)
  else await cli(run, isBad ? 1 : 0, ['import', 'pets', '-'], file)
  if (isBad) return
  run.world.bringInCategories(rows.map(({ categoryId }) => categoryId))
  for (const { pet, ...wanted } of rows) run.world.bringIn(petIdOf(pet), wanted)
}

/** PostgreSQL has its own clock, which a command in another process cannot override. */
async function importAtTestTime({ shop }: ModelRun, rows: readonly PetRow[]): Promise<void> {
  const pets = rows.map(({ pet, ...row }) => ({ id: petIdOf(pet), ...row }))
  await putPets(shop.store, pets, { at: shop.now, keyId: IMPORT_KEY })
}

function csvLine({ pet, name, categoryId, status, quantity }: PetRow): string {
  return [petIdOf(pet), `"${name.replaceAll('"', '""')}"`, categoryId, status, quantity].join(',')
}

async function remove(run: ModelRun, petId: bigint): Promise<void> {
  // The pet stays until the expiry of its holds is recorded, which is soon.
  await run.endHolds()
  const by = { at: run.world.now, id: SYSTEM_KEY_ID, name: SYSTEM_KEY_ID }
  const isRemoved = run.world.catalog.remove(petId, by) === undefined
  const [outcome] = await run.shop.store.changeStock([
    { type: 'remove_pet', petId, keyId: SYSTEM_KEY_ID, at: run.world.now },
  ])
  if ((outcome.type === 'done') !== isRemoved) throw new Error(`removing pet ${petId}: ${outcome.type}`)
}

async function order(run: ModelRun, command: Extract<Command, { kind: 'order' }>): Promise<void> {
  const { id, complete } = command
  const petId = petIdOf(command.pet)
  const shipDate = run.world.now
  const isTaken = run.world.orders.bringIn(id, { petId, quantity: 2, shipDate, complete })
  // PostgreSQL has its own clock, which a command in another process cannot override.
  if (run.store === 'postgres') {
    const row = { id, petId, quantity: 2, shipDate, complete }
    const command = { type: 'import_order', order: row, at: run.shop.now, keyId: IMPORT_KEY } as const
    const [outcome] = await run.shop.store.changeStock([command])
    const taken = outcome.type === 'done'
    if (taken !== isTaken) throw new Error(`order ${id} of pet ${petId}: taken is ${taken}`)
    return
  }
  const line = [id, petId, 2, new Date(shipDate).toISOString(), complete].join()
  const file = `id,petId,quantity,shipDate,complete\n${line}\n`
  await cli(run, isTaken ? 0 : 1, ['import', 'orders', '-'], file)
}

async function create(run: ModelRun, command: Extract<Command, { kind: 'create' }>): Promise<void> {
  const { world } = run
  if (world.keys.length >= MAX_KEYS) return
  const { perMinute, permissions, hours } = command
  const limits = { perMinute, perDay: perMinute * 2 }
  const name = `key ${world.keys.length}`
  const { stdout, stderr } = await cli(run, 0, [
    ...['keys', 'create', '--name', name, '--plan', 'enterprise'],
    ...['--per-minute', String(limits.perMinute), '--per-day', String(limits.perDay)],
    ...['--may', permissions.join() || 'none'],
    ...(hours === 0 ? [] : ['--expires', `${hours}h`]),
  ])
  const id = /Created (key_\w+)/.exec(stderr)?.[1] ?? ''
  const expiry = hours === 0 ? {} : { expiresAt: world.now + hours * HOUR }
  world.addKey({ id, name, secret: stdout.trim(), permissions, ...expiry }, limits)
}

/** Never the first key, which the test itself uses; that key is not revoked either. */
async function rotate(run: ModelRun, command: Extract<Command, { kind: 'rotate' }>): Promise<void> {
  const key = keyOf(run.world, command.key)
  if (key === run.world.keys[0]) return
  const { graceSeconds } = command
  if (key.isRevoked) return
  const secret = createSecret('production')
  const stamp = { at: run.shop.now, actor: 'test' }
  const storedSecret = toStoredSecret(secret, run.shop.now)
  const earlierSecretsEndAt = run.shop.now + graceSeconds * SECOND
  await operatorOf(run.shop.store).rotateKey(key.id, storedSecret, earlierSecretsEndAt, stamp)
  // Without grace they are gone, whatever the clock says.
  const endsAt = graceSeconds === 0 ? Number.NEGATIVE_INFINITY : run.world.now + graceSeconds * SECOND
  for (const secret of key.secrets) secret.endsAt = Math.min(secret.endsAt, endsAt)
  key.secrets.unshift({ text: secret, endsAt: Number.POSITIVE_INFINITY })
}

async function revoke(run: ModelRun, key: ModelKey): Promise<void> {
  if (key === run.world.keys[0]) return
  await cli(run, key.isRevoked ? 1 : 0, ['keys', 'revoke', key.id, '--yes'])
  key.isRevoked = true
}

/** A copy of the SQLite file contains everything. PostgreSQL has its own tools. */
async function backUp(run: ModelRun): Promise<void> {
  if (run.store === 'postgres') return
  const file = join(run.shop.folder, `backup-${crypto.randomUUID()}.db`)
  await cli(run, 0, ['backup', file])
  const url = `sqlite:${file}.restored`
  restoreStore(file, url)
  const copy = await openStore(url, { tables: 'require_current_tables' })
  try {
    const items = (await stockOf(copy)).map((item) => ({ ...item, quantity: BigInt(item.quantity) }))
    if (!Bun.deepEquals(items, listOf(run.world))) throw new Error(`the backup holds ${asText(items)}`)
    for (const [petId, changes] of run.world.histories) {
      const kept = (await historyOf(copy, petId)).map(({ petId: _, ...change }) => change)
      const wanted = changes.map(({ id: _, keyName: __, ...change }) => change)
      if (!Bun.deepEquals(kept, wanted)) throw new Error(`the backup has the history ${asText(kept)}`)
    }
  } finally {
    await copy.close()
  }
}
