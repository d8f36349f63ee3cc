import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CataloguePet, catalogueAt } from './catalogue.ts'
import { sha256 } from './peers/gate.ts'
import { POSTGRES_SCHEMA } from './peers/postgres-statements.ts'
import { SEARCH_SCHEMA } from './peers/search.ts'
import { SCHEMA } from './peers/statements.ts'

const STATUSES = ['available', 'pending', 'sold'] as const

/** The keys of the peers; ours makes its own. */
export const PEER_SECRETS = {
  unlimited: 'bench_unlimited_key_of_the_peers',
  free: 'bench_free_key_of_the_peers',
}

/** As the peers keep them. */
const PEER_KEYS = [
  { hash: sha256(PEER_SECRETS.unlimited), id: 'unlimited', perMinute: 1_000_000_000, perDay: 1_000_000_000 },
  { hash: sha256(PEER_SECRETS.free), id: 'free', perMinute: 60, perDay: 1_000 },
]

export interface Pet {
  readonly petId: number
  readonly quantity: number
  readonly status: (typeof STATUSES)[number]
}

/** The same stock for every target. */
export interface Dataset {
  readonly pets: number
  /** Where every file of this dataset is. */
  readonly folder: string
  /** Given where it is searched; elsewhere peers need no more than their stock. */
  readonly catalogueAt?: (index: number) => CataloguePet
  /** The list as it has to arrive. */
  readonly body: string
}

/** Four digits each, like the quantities that the load sets, so that the list keeps its length. */
export function createDataset(
  pets: number,
  folder: string,
  { isSearched }: { readonly isSearched: boolean } = { isSearched: false },
): Dataset {
  mkdirSync(folder, { recursive: true })
  let body: string | undefined
  return {
    pets,
    folder,
    ...(isSearched ? { catalogueAt } : {}),
    get body() {
      body ??= JSON.stringify(Array.from({ length: pets }, (_, index) => petAt(index)))
      return body
    },
  }
}

export function petAt(index: number): Pet {
  return {
    petId: index + 1,
    quantity: 1000 + ((index * 7919) % 9000),
    status: STATUSES[index % STATUSES.length] ?? 'available',
  }
}

/** As in a real store, so that the search of the staff page has something to tell apart. */
const KINDS = [
  ...['Labrador Retriever', 'Beagle', 'Border Collie', 'Maine Coon', 'Siamese', 'British Shorthair'],
  ...['Budgerigar', 'Cockatiel', 'Zebra Finch', 'Neon Tetra', 'Clownfish', 'Goldfish', 'Syrian Hamster'],
  ...['Netherland Dwarf', 'Guinea Pig', 'Chinchilla', 'Hermann Tortoise'],
]

export function nameAt(index: number): string {
  return `${KINDS[index % KINDS.length]} ${index + 1}`
}

function plainAt(index: number): Pick<CataloguePet, 'name' | 'categoryId'> & { lowStockAt?: undefined } {
  return { name: nameAt(index), categoryId: (index % 10) + 1 }
}

/** For `petstore import`. */
export async function writeCsv({ pets, folder, catalogueAt }: Dataset): Promise<string> {
  const path = join(folder, 'pets.csv')
  const file = Bun.file(path).writer()
  file.write(`petId,name,categoryId,status,quantity${catalogueAt === undefined ? '' : ',lowStockAt'}\n`)
  for (let index = 0; index < pets; index++) {
    const { petId, quantity, status } = petAt(index)
    const { name, categoryId, lowStockAt } = catalogueAt?.(index) ?? plainAt(index)
    const threshold = lowStockAt === undefined ? '' : `,${lowStockAt}`
    file.write(`${petId},${name},${categoryId},${status},${quantity}${threshold}\n`)
  }
  await file.end()
  return path
}

export async function writeBody({ folder, body }: Dataset): Promise<string> {
  const path = join(folder, 'list.json')
  await Bun.write(path, body)
  return path
}

/** One of its own for each peer, since each writes to it. */
export function writePeerDatabase(dataset: Dataset, peer: string): string {
  const { pets, folder } = dataset
  const path = join(folder, `${peer}.db`)
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run(SCHEMA)
  const addPet = database.query('INSERT INTO inventory (petId, quantity, status) VALUES (?, ?, ?)')
  const addKey = database.query('INSERT INTO keys (hash, id, perMinute, perDay) VALUES (?, ?, ?, ?)')
  database.transaction(() => {
    for (let index = 0; index < pets; index++) {
      const { petId, quantity, status } = petAt(index)
      addPet.run(petId, quantity, status)
    }
    for (const { hash, id, perMinute, perDay } of PEER_KEYS) addKey.run(hash, id, perMinute, perDay)
  })()
  addCatalogue(database, dataset)
  database.close()
  return path
}

function addCatalogue(database: Database, { pets, catalogueAt }: Dataset): void {
  if (catalogueAt === undefined) return
  database.run(SEARCH_SCHEMA)
  const addPet = database.query('INSERT INTO pets (id, name, categoryId) VALUES (?, ?, ?)')
  const setThreshold = database.query('UPDATE inventory SET lowStockAt = ? WHERE petId = ?')
  database.transaction(() => {
    for (let index = 0; index < pets; index++) {
      const { name, categoryId, lowStockAt } = catalogueAt(index)
      addPet.run(index + 1, name, categoryId)
      setThreshold.run(lowStockAt, index + 1)
    }
    database.run("INSERT INTO petNames (petNames) VALUES ('rebuild')")
  })()
  database.run('ANALYZE')
}

/** The same on PostgreSQL. */
export async function writePeerPostgres({ body }: Dataset, url: string): Promise<void> {
  await using sql = new Bun.SQL(url, { max: 1 })
  await sql.unsafe(POSTGRES_SCHEMA)
  await sql`
    INSERT INTO inventory (pet_id, quantity, status)
    SELECT "petId", quantity, status
    FROM json_to_recordset(${body}::text::json) AS pets ("petId" integer, quantity integer, status text)`
  for (const { hash, id, perMinute, perDay } of PEER_KEYS) {
    await sql`INSERT INTO keys (hash, id, per_minute, per_day) VALUES (${hash}, ${id}, ${perMinute}, ${perDay})`
  }
}
