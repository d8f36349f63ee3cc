import type { Command } from 'commander'
import { addCreate } from './keys/create.ts'
import { addList } from './keys/list.ts'
import { addRevoke } from './keys/revoke.ts'
import { addRotate } from './keys/rotate.ts'
import { addShow } from './keys/show.ts'
import { addUnban } from './keys/unban.ts'

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('Make and manage API keys, while the service runs.')
  for (const add of [addCreate, addList, addShow, addRotate, addRevoke, addUnban]) add(keys)
}
