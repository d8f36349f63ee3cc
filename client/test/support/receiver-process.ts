import { ROOT } from './built-client.ts'

/** Starts a webhook receiver as a process, with its port and secret in the environment. */
export async function startReceiver(command: readonly string[], port: number, secret: string) {
  const program = Bun.spawn([...command], {
    cwd: ROOT,
    env: { ...Bun.env, PORT: String(port), WEBHOOK_SECRET: secret },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const errors = new Response(program.stderr).text()
  const output = program.stdout.getReader()
  const decoder = new TextDecoder()
  let printed = ''
  const isListening = () =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    )
  while (!(await isListening())) {
    if (program.exitCode !== null) throw new Error(`the receiver ended: ${await errors}`)
    await Bun.sleep(20)
  }
  return {
    /** The lines that it has printed, once there are at least `count`. */
    lines: async (count: number): Promise<string[]> => {
      for (;;) {
        const lines = printed.split('\n')
        if (lines.length > count) return lines.slice(0, -1)
        const { value, done } = await output.read()
        if (done) throw new Error(`the receiver ended: ${printed}${await errors}`)
        printed += decoder.decode(value, { stream: true })
      }
    },
    stop: async () => {
      program.kill()
      await program.exited
    },
  }
}
