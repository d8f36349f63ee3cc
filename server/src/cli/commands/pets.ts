import type { Command } from 'commander'
import { STORE_KEY_ID } from '../../core/stock/command.ts'
import { readPetId } from '../arguments.ts'
import { type AskingFlags, ask, requireAnswer } from '../asking.ts'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'

export function addPetsCommands(program: Command): void {
  program
    .command('pets')
    .description('Look after single pets, while the service runs. Many at once: petstore import')
    .command('remove')
    .description(
      'Remove a pet and its stock, unless orders of it are open. Its history and its closed orders stay.',
    )
    .argument('<petId>', '', readPetId)
    .option('--yes', 'do not ask')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(removePet)
}

async function removePet(petId: bigint, flags: SettingFlags & AskingFlags): Promise<void> {
  requireAnswer(flags, 'removes the pet')
  await withStore(flags, 'expect', async (store, config) => {
    const pet = await store.findPet(petId)
    if (pet === undefined) throw new Error(`there is no pet ${petId}; nothing was changed`)
    const described = `pet ${petId} (${JSON.stringify(pet.name)}, ${pet.status})`
    ask(flags, `Remove ${described} and its stock?`)
    const by = { keyId: STORE_KEY_ID, at: store.clock() }
    const [outcome] = await store.changeStock([{ type: 'remove_pet', petId, ...by }])
    if (outcome.type === 'pet_reserved') {
      const which = `petstore orders list --pet ${petId} --state open`
      throw new Error(`orders of pet ${petId} are open; complete or cancel them first: ${which}`)
    }
    if (outcome.type === 'unknown_pet') throw new Error(`pet ${petId} is gone already; nothing was changed`)
    console.log(
      `Removed ${described} from ${databaseName(config)}. Its history stays: petstore history ${petId}`,
    )
  })
}
