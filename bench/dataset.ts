import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createSecret } from '../server/src/core/keys/api-key.ts'
import { sha256 } from './peers/gate.ts'
import { POSTGRES_SCHEMA, SCHEMA } from './peers/schema.ts'

const STATUSES = ['available', 'pending', 'sold'] as const

export const UNKNOWN_SECRET = createSecret('production')
/** The keys of the peers; ours creates its own. */
export const PEER_SECRETS = { unlimited: 'bench_unlimited_key_of_the_peers', unknown: UNKNOWN_SECRET }
const PEER_KEY = {
  hash: sha256(PEER_SECRETS.unlimited),
  id: 'unlimited',
  perMinute: 1_000_000_000,
  perDay: 1_000_000_000,
}

/** The same stock for every target. */
export interface Dataset {
  readonly pets: number
  readonly folder: string
  /** The expected body of the list. */
  readonly body: string
}

export function createDataset(pets: number, folder: string): Dataset {
  mkdirSync(folder, { recursive: true })
  let body: string | undefined
  return {
    pets,
    folder,
    get body() {
      body ??= JSON.stringify(Array.from({ length: pets }, (_, index) => petAt(index)))
      return body
    },
  }
}

/** Quantities have four digits, like those that the load sets, so that the list keeps its length. */
function petAt(index: number) {
  return {
    petId: index + 1,
    quantity: 1000 + ((index * 7919) % 9000),
    status: STATUSES[index % STATUSES.length] ?? 'available',
  }
}

/** For `petstore import`. */
export async function writeCsv({ pets, folder }: Dataset): Promise<string> {
  const path = join(folder, 'pets.csv')
  const file = Bun.file(path).writer()
  file.write('petId,name,categoryId,status,quantity\n')
  for (let index = 0; index < pets; index++) {
    const { petId, quantity, status } = petAt(index)
    file.write(`${petId},Pet ${petId},${(index % 10) + 1},${status},${quantity}\n`)
  }
  await file.end()
  return path
}

export async function writeBody({ folder, body }: Dataset): Promise<string> {
  const path = join(folder, 'list.json')
  await Bun.write(path, body)
  return path
}

/** Each peer has its own database, because it writes to it. */
export function writePeerDatabase(dataset: Dataset, peer: string): string {
  const { pets, folder } = dataset
  const path = join(folder, `${peer}.db`)
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run(SCHEMA)
  const addPet = database.query('INSERT INTO inventory (petId, quantity, status) VALUES (?, ?, ?)')
  database.transaction(() => {
    for (let index = 0; index < pets; index++) {
      const { petId, quantity, status } = petAt(index)
      addPet.run(petId, quantity, status)
    }
    const { hash, id, perMinute, perDay } = PEER_KEY
    database.run('INSERT INTO keys VALUES (?, ?, ?, ?)', [hash, id, perMinute, perDay])
  })()
  database.close()
  return path
}

export async function writePeerPostgres({ body }: Dataset, url: string): Promise<void> {
  await using sql = new Bun.SQL(url, { max: 1 })
  await sql.unsafe(POSTGRES_SCHEMA)
  await sql`
    INSERT INTO inventory (pet_id, quantity, status)
    SELECT "petId", quantity, status
    FROM json_to_recordset(${body}::text::json) AS pets ("petId" integer, quantity integer, status text)`
  const { hash, id, perMinute, perDay } = PEER_KEY
  await sql`INSERT INTO keys (hash, id, per_minute, per_day) VALUES (${hash}, ${id}, ${perMinute}, ${perDay})`
}
