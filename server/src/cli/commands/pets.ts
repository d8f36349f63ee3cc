import type { Command } from 'commander'
import { readPetId, wrongUse } from '../arguments.ts'
import { type SettingFlags, setting, withStore } from '../with-store.ts'

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
    .action(removePet)
}

async function removePet(petId: bigint, flags: SettingFlags & { readonly yes?: true }): Promise<void> {
  if (flags.yes !== true && !process.stdin.isTTY) {
    wrongUse('there is no terminal to ask on; --yes removes the pet without asking')
  }
  await withStore(flags, 'expect', async (store) => {
    const pet = await store.findPet(petId)
    if (pet === undefined) throw new Error(`there is no pet ${petId}; nothing was changed`)
    const described = `pet ${petId} (${JSON.stringify(pet.name)}, ${pet.status})`
    if (flags.yes !== true && !confirm(`Remove ${described} and its stock?`)) {
      throw new Error('nothing was changed')
    }
    const outcome = await store.removePet(petId)
    if (outcome === 'in_use') {
      const which = `petstore orders list --pet ${petId} --state open`
      throw new Error(`orders of pet ${petId} are open; complete or cancel them first: ${which}`)
    }
    if (outcome === 'unknown_pet') throw new Error(`pet ${petId} is gone already; nothing was changed`)
    console.log(`Removed ${described}. Its history stays: petstore history ${petId}`)
  })
}
