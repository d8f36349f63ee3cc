import type { KeyLimits } from '@petstore/client'
import type { Session } from '../session/session.ts'
import { type ImportPlan, type KnownPet, planImport } from './import-plan.ts'
import { type PetFile, readPetFile } from './pet-file.ts'

/** A file, the changes that it would make, and the limits of the key. */
export interface Prepared {
  readonly file: PetFile
  readonly plan: ImportPlan
  readonly limits: Pick<KeyLimits, 'minute' | 'day'>
}

/** Compares a file with the current store. */
export async function prepareImport(
  session: Session,
  chosen: Pick<File, 'name' | 'arrayBuffer'>,
  mayChangeStock: boolean,
): Promise<Prepared> {
  const file = readPetFile(chosen.name, new Uint8Array(await chosen.arrayBuffer()))
  const plan = await planOf(session, file, mayChangeStock)
  return { file, plan, limits: await session.client.limits.get() }
}

async function planOf(session: Session, file: PetFile, mayChangeStock: boolean): Promise<ImportPlan> {
  const { stock, categories } = session
  await categories.reload()
  const details = file.hasDetails || !stock.get().hasNames ? await detailsOf(session) : undefined
  const pets = new Map<bigint, KnownPet>()
  for (const { petId, name, categoryId, status, quantity } of stock.get().rows) {
    const detail = details?.get(petId) ?? { name, categoryId }
    if (detail.name === undefined || detail.categoryId === undefined) continue
    pets.set(petId, { ...detail, name: detail.name, categoryId: detail.categoryId, petId, status, quantity })
  }
  return planImport(file, { pets, categories: new Set(categories.get().byId.keys()), mayChangeStock })
}

async function detailsOf({ client, saving: { signal } }: Session) {
  const details = new Map<bigint, Partial<Omit<KnownPet, 'petId' | 'status' | 'quantity'>>>()
  for await (const { petId, ...detail } of client.catalog.list({ signal })) details.set(petId, detail)
  return details
}
