import { type CatalogRefusal, categoryBody, petBody } from './catalog.ts'
import { BAD_CATEGORIES, BAD_CATEGORY_UPDATES, BAD_PET_UPDATES, BAD_PETS } from './catalog-requests.ts'
import type {
  CatalogChangeCall,
  CategoryUpdateCall,
  NewCategoryCall,
  NewPetCall,
  PetFields,
  PetUpdateCall,
} from './catalog-steps.ts'
import { asText, failure, type Intent, type Outcome } from './outcome.ts'
import { petIdOf } from './plan.ts'
import type { ModelPet, ModelWorld } from './world.ts'

export function catalogIntent(world: ModelWorld, call: CatalogChangeCall): Intent {
  switch (call.kind) {
    case 'new-pet':
      return petCreation(world, call)
    case 'pet-update':
      return petUpdate(world, call)
    case 'remove-pet': {
      const petId = petIdOf(call.pet)
      return {
        ...removal(`/pets/${petId}`, (by) => world.catalog.remove(petId, by)),
        removesStock: () => (world.pets.get(petId)?.quantity ?? 0) > 0,
      }
    }
    case 'new-category':
      return categoryCreation(world, call)
    case 'category-update':
      return categoryUpdate(world, call)
    case 'remove-category':
      return removal(`/categories/${call.id}`, (by) => world.catalog.removeCategory(call.id, by))
  }
}

function petCreation(world: ModelWorld, call: NewPetCall): Intent {
  const id = call.pet === undefined ? undefined : petIdOf(call.pet)
  const { name, categoryId, status, quantity, barcode, lowStockAt } = call
  return {
    method: 'POST',
    path: '/pets',
    ...sent(BAD_PETS[call.body], { id, quantity, ...fieldsOf(call) }),
    createsStock: (quantity ?? 0) > 0,
    decide: (by) => {
      const pet: ModelPet = {
        name,
        categoryId,
        status: status ?? 'available',
        quantity: quantity ?? 0,
        ...(barcode === undefined ? {} : { barcode }),
        ...(lowStockAt === undefined ? {} : { lowStockAt }),
      }
      const obstacle = world.catalog.obstacle(id, pet)
      if (obstacle !== undefined) return refused(obstacle)
      return {
        status: 201,
        made: {
          id,
          path: '/catalog',
          isTaken: (given) => world.catalog.hadPet(given),
          bodyOf: (given) => petBody(given, pet),
          keep: (given) => {
            world.catalog.put(given, pet, by)
            world.catalog.tellCrossings(by)
          },
        },
      }
    },
  }
}

function petUpdate(world: ModelWorld, call: PetUpdateCall): Intent {
  const petId = petIdOf(call.pet)
  const fields = fieldsOf(call)
  const patch = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const isEmpty = Object.keys(patch).length === 0
  return {
    method: 'PATCH',
    path: `/pets/${petId}`,
    ...sent(isEmpty ? '{}' : BAD_PET_UPDATES[call.body], fields),
    decide: (by) => {
      const changed = world.catalog.change(petId, patch, by)
      return typeof changed === 'string' ? refused(changed) : tagged(`pet ${petId}`, petBody(petId, changed))
    },
  }
}

function categoryCreation(world: ModelWorld, call: NewCategoryCall): Intent {
  const { id, name, lowStockAt } = call
  const category = { name, ...(lowStockAt === undefined ? {} : { lowStockAt }) }
  return {
    method: 'POST',
    path: '/categories',
    ...sent(BAD_CATEGORIES[call.body], { id, ...category }),
    decide: (by) => {
      if (id !== undefined && world.catalog.categories.has(id)) return refused('already_exists')
      if (world.catalog.hasCategoryName(name)) return refused('already_exists')
      return {
        status: 201,
        made: {
          id,
          path: '/categories',
          isTaken: (given) => world.catalog.hadCategory(given),
          bodyOf: (given) => categoryBody(given, category),
          keep: (given) => world.catalog.putCategory(given, category, by),
        },
      }
    },
  }
}

function categoryUpdate(world: ModelWorld, call: CategoryUpdateCall): Intent {
  const { id, name, lowStockAt } = call
  const isEmpty = name === undefined && lowStockAt === undefined
  return {
    method: 'PATCH',
    path: `/categories/${id}`,
    ...sent(isEmpty ? '{}' : BAD_CATEGORY_UPDATES[call.body], { name, lowStockAt }),
    decide: (by) => {
      const before = world.catalog.categories.get(id)
      if (before === undefined) return refused('not_found')
      const isRenamed = name !== undefined && name !== before.name
      if (isRenamed && world.catalog.hasCategoryName(name, id)) return refused('already_exists')
      const threshold = lowStockAt === undefined ? before.lowStockAt : (lowStockAt ?? undefined)
      const category = {
        name: name ?? before.name,
        ...(threshold === undefined ? {} : { lowStockAt: threshold }),
      }
      world.catalog.putCategory(id, category, by)
      return tagged(`category ${id}`, categoryBody(id, category))
    },
  }
}

function removal(
  path: string,
  remove: (by: Parameters<Intent['decide']>[0]) => CatalogRefusal | undefined,
): Intent {
  return {
    method: 'DELETE',
    path,
    headers: {},
    body: '',
    decide: (by) => {
      const refusal = remove(by)
      return refusal === undefined ? { status: 204 } : refused(refusal)
    },
  }
}

function fieldsOf({ name, categoryId, status, barcode, lowStockAt }: PetFields): PetFields {
  return { name, categoryId, status, barcode, lowStockAt }
}

/** What is sent, and the rejection if it is invalid. Ids are digits beyond a JavaScript number. */
function sent(bad: string | undefined, fields: object): Pick<Intent, 'headers' | 'body' | 'refusal'> {
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `"${name}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`)
  return {
    headers: { 'Content-Type': 'application/json' },
    body: bad ?? `{${parts}}`,
    refusal: bad === undefined ? undefined : failure(400),
  }
}

function tagged(resource: string, body: object): Outcome {
  return { status: 200, body, tagged: { resource, content: asText([body, true, undefined]) } }
}

function refused(why: CatalogRefusal): Outcome {
  if (why === 'not_found') return failure(404)
  return why === 'unknown_category' ? failure(400) : failure(409, { code: why })
}
