import { open } from 'node:fs/promises'

/** Writes a new file. */
export async function writeToFile(
  path: string,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    for await (const part of text) {
      signal.throwIfAborted()
      await handle.writeFile(part)
    }
  } finally {
    await handle.close()
  }
}

/** Goes at the reader's pace. False where the reader, such as `head`, had enough before the end. */
export async function writeToStdout(text: AsyncIterable<string>, signal: AbortSignal): Promise<boolean> {
  // A failure is given to the write it belongs to; without a listener it would end the program besides.
  process.stdout.on('error', () => {})
  try {
    for await (const part of text) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        process.stdout.write(part, (error) => (error ? reject(error) : resolve()))
      })
    }
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return false
    throw error
  }
}
