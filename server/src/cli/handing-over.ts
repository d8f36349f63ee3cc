import { writeSync } from 'node:fs'
import { failureText } from './output.ts'

/**
 * Hands a secret over and puts it into force. It alone goes to standard output, so that a script can take it from there;
 * and it does so first: one that nobody could be given is never in force.
 */
export async function handOver(
  what: 'key' | 'secret',
  secret: string,
  putIntoForce: () => Promise<unknown>,
  told: string,
): Promise<void> {
  try {
    writeSync(process.stdout.fd, `${secret}\n`)
  } catch (error) {
    throw new Error(
      `the ${what} cannot be written to standard output (${failureText(error)}); nothing was changed`,
    )
  }
  try {
    await putIntoForce()
  } catch (error) {
    throw new Error(`${failureText(error)}; the ${what} that was shown does not work`, { cause: error })
  }
  console.error(`${told} Keep the ${what}, it is not shown again.`)
}
