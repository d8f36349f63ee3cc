import {
  createKeyId,
  createSecret,
  type Limits,
  PERMISSIONS,
  toStoredSecret,
} from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { serve } from '../cli/running-petstore.ts'
import { addPets } from '../support/add-pets.ts'
import { operatorOf } from '../support/operator.ts'

export const PET_IDS = [1, 2, 3, 4, 5]
const ROOMY: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/** Fills an empty database with a few pets, all with quantity 0, and returns a key without practical limits. */
export async function stockUp(databaseUrl: string, petIds: readonly number[] = PET_IDS): Promise<string> {
  const store = await openStore(databaseUrl, { tables: 'migrate' })
  await addPets(
    store,
    petIds.map((id) => ({
      id: BigInt(id),
      name: `Pet ${id}`,
      categoryId: 1n,
      status: 'available',
      quantity: 0,
    })),
  )
  await store.close()
  return addKey(databaseUrl, ROOMY)
}

export async function addKey(databaseUrl: string, limits: Limits): Promise<string> {
  const store = await openStore(databaseUrl, { tables: 'migrate' })
  const secret = createSecret('production')
  const now = Date.now()
  await operatorOf(store).addKey(
    { id: createKeyId(), name: 'Shop', plan: 'enterprise', limits, permissions: PERMISSIONS, createdAt: now },
    toStoredSecret(secret, now),
    { at: now, actor: 'test' },
  )
  await store.close()
  return secret
}

/** The real program, in separate processes, all on one database. */
export function startInstances(
  databaseUrl: string,
  count: number,
  settings: Readonly<Record<string, string>> = {},
) {
  return Promise.all(
    Array.from({ length: count }, () =>
      serve([], { cwd: '/', env: { DATABASE_URL: databaseUrl, LOG_REQUESTS: 'none', ...settings } }),
    ),
  )
}
