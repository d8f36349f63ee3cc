import { defaultCategoryName } from '../../src/core/catalog/category.ts'
import type { PetUpsert } from '../../src/core/catalog/pet.ts'
import { type ChangeOrigin, SYSTEM_KEY_ID } from '../../src/core/stock/change-origin.ts'
import { MAX_CHANGES } from '../../src/core/stock/command.ts'
import type { Store } from '../../src/store/store.ts'

type PetToAdd = PetUpsert & { readonly id: bigint; readonly categoryId: bigint }
type PetStore = Pick<Store, 'changeInOneTransaction' | 'clock' | 'findStockedPets' | 'listCategories'>

/** Adds pets with their stock, and creates missing categories. Throws if any pet exists. */
export async function addPets(store: PetStore, pets: readonly PetToAdd[]): Promise<void> {
  const ids = pets.map(({ id }) => id)
  const [existing] = await store.findStockedPets(ids, [])
  if (existing !== undefined) throw new Error(`pet ${existing.id} already exists`)
  await putPets(store, pets, { keyId: SYSTEM_KEY_ID, at: store.clock() })
}

/** Adds or changes pets with their stock in one transaction, and creates missing categories. */
export async function putPets(
  store: PetStore,
  pets: readonly PetToAdd[],
  origin: ChangeOrigin,
): Promise<void> {
  const known = new Set((await store.listCategories(undefined, MAX_CHANGES)).map(({ id }) => id))
  const missing = [...new Set(pets.map(({ categoryId }) => categoryId))].filter((id) => !known.has(id))
  await store.changeInOneTransaction(async (change) => {
    await change(
      missing.map((id) => ({
        type: 'create_category',
        category: { id, name: defaultCategoryName(id) },
        ...origin,
      })),
    )
    for (let start = 0; start < pets.length; start += MAX_CHANGES) {
      const part = pets.slice(start, start + MAX_CHANGES)
      const [result] = await change([{ type: 'upsert_pets', pets: part, canChangeStock: true, ...origin }])
      if (result?.type !== 'done') throw new Error(`the pets were not added: ${Bun.inspect(result)}`)
    }
  })
}
