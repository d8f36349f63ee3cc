import { SYSTEM_KEY_ID } from '../../core/stock/command.ts'
import { type ConfirmFlags, type PetstoreCommand, parsePetId } from '../arguments.ts'
import { requireConfirmation } from '../terminal.ts'
import type { OpenedStore } from '../with-store.ts'

export function addPetsCommands(program: PetstoreCommand): void {
  program
    .command('pets')
    .description('Manage single pets, even while the service is running. For many pets: petstore import')
    .command('remove')
    .description('Remove a pet and its stock, unless it has open orders. Its history and closed orders stay.')
    .argument('<petId>', 'id of the pet', parsePetId)
    .confirmOption('removes the pet')
    .storeAction(removePet)
}

async function removePet(
  { store, database }: OpenedStore,
  petId: bigint,
  flags: ConfirmFlags,
): Promise<void> {
  const pet = await store.findPet(petId)
  if (pet === undefined) throw new Error(`there is no pet ${petId}; nothing was changed`)
  const description = `pet ${petId} (${JSON.stringify(pet.name)}, ${pet.status})`
  requireConfirmation(flags, `Remove ${description} and its stock?`)
  const [outcome] = await store.changeStock([
    { type: 'remove_pet', petId, keyId: SYSTEM_KEY_ID, at: store.clock() },
  ])
  if (outcome.type === 'pet_reserved') {
    const listCommand = `petstore orders list --pet ${petId} --state open`
    throw new Error(`pet ${petId} has open orders; complete or cancel them first: ${listCommand}`)
  }
  if (outcome.type === 'unknown_pet') {
    throw new Error(`pet ${petId} was already removed; nothing was changed`)
  }
  console.log(`Removed ${description} from ${database}. Its history stays: petstore history ${petId}`)
}
