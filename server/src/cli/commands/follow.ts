import { resolve } from 'node:path'
import { followBackup } from '../../store/open-store.ts'
import type { PetstoreCommand } from '../arguments.ts'
import { failureText } from '../terminal.ts'

/** The service writes to the folder five times a second. */
const FOLLOW_EVERY_MS = 500

export function addFollowCommand(program: PetstoreCommand): void {
  program
    .command('follow')
    .description(
      'Keep a file on a spare machine up to date with a service, until stopped. Then petstore serve can take over with it.',
    )
    .argument('<folder>', 'the folder of petstore serve --backup-to')
    .argument('<file>', 'the database to keep up to date: a new file, or one that has followed before')
    .action(follow)
}

async function follow(folder: string, file: string): Promise<void> {
  const follower = followBackup(resolve(folder), resolve(file))
  let isStopping = false
  const stopped = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isStopping = true
      stopped.resolve()
    })
  }
  let state = ''
  const report = (newState: string) => {
    if (newState !== state) console.log(newState)
    state = newState
  }
  try {
    for (;;) {
      const isLastStep = isStopping
      try {
        follower.step()
        report(`${file} follows ${folder}.`)
      } catch (error) {
        report(`${file} cannot follow ${folder} at the moment: ${failureText(error)}`)
      }
      if (isLastStep) break
      await Promise.race([stopped.promise, Bun.sleep(FOLLOW_EVERY_MS)])
    }
    const last = follower.lastChange()
    if (last !== undefined)
      console.log(`Its last change is number ${last.id}, made at ${new Date(last.at).toISOString()}.`)
  } finally {
    follower.close()
  }
}
