import { fileURLToPath } from 'node:url'
import type { TunedConstants } from '../support/tuned-petstore.ts'
import { startPetstore } from './petstore.ts'

const TUNED_MAIN = fileURLToPath(new URL('../support/tuned-petstore.ts', import.meta.url))

interface ServeOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly through?: readonly string[]
  readonly program?: readonly string[]
}

/** A service in its own process, with constants that no setting changes. */
export function serveTuned(constants: TunedConstants, { env = {}, ...options }: ServeOptions) {
  return serve([], {
    ...options,
    env: { ...env, TEST_CONSTANTS: JSON.stringify(constants) },
    program: [process.execPath, TUNED_MAIN],
  })
}

/** Starts `petstore serve` on a free port, waits until it listens, and returns what a caller needs. */
export async function serve(args: readonly string[], options: ServeOptions) {
  const program = startPetstore(['serve', '--port', '0', ...args], options)
  const listening = Promise.withResolvers<void>()
  const errors = new Response(program.stderr).text()
  let output = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of program.stdout) {
      output += decoder.decode(chunk, { stream: true })
      if (output.includes('"listening"')) listening.resolve()
    }
    listening.reject(new Error(`petstore serve ended: ${await errors}`))
  })()
  await listening.promise
  const address = /"address":"([^"]+)"/.exec(output)?.[1] ?? ''

  return {
    address,
    program,
    /** Everything it has printed; complete once it has ended. */
    output: () => output,
    /** The same for standard error; resolves once it has ended. */
    errors: () => errors,
    call: (path: string, key: string, init: RequestInit = {}) =>
      fetch(`${address}/v1${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      }),
    /** Returns the exit code. */
    stop: async (signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM') => {
      program.kill(signal)
      await reading
      return program.exited
    },
  }
}
