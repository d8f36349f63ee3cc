import { afterAll } from 'bun:test'
import { join } from 'node:path'

export const PYTHON_CLIENT = join(import.meta.dir, '../../../client-python')

const RUNNER = `
import json, sys

class Enough(Exception):
    pass

for line in sys.stdin:
    given = json.loads(line)
    printed = []
    def note(*values):
        printed.append(' '.join(map(str, values)))
        if given['isStream'] and not isinstance(values[0], int):
            raise Enough
    error = None
    try:
        exec(given['code'], {'print': note})
    except Enough:
        pass
    except Exception as raised:
        error = repr(raised)
    print(json.dumps({'printed': printed, 'error': error}), flush=True)
`

interface Outcome {
  readonly printed: string[]
  readonly error: string | null
}

/** Runs all samples of a test file in one process, because starting Python takes longer than any sample. */
class PythonSamples {
  readonly #program = Bun.spawn(['python3', '-c', RUNNER], {
    env: { PYTHONPATH: PYTHON_CLIENT },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  readonly #answers = linesOf(this.#program.stdout)

  async printed(code: string, isStream = false): Promise<string[]> {
    this.#program.stdin.write(`${JSON.stringify({ code, isStream })}\n`)
    this.#program.stdin.flush()
    const { value } = await this.#answers.next()
    if (value === undefined) throw new Error('python3 has ended')
    const { printed, error } = JSON.parse(value) as Outcome
    if (error !== null) throw new Error(`the sample failed with ${error}:\n${code}`)
    return printed
  }

  async stop(): Promise<void> {
    this.#program.stdin.end()
    await this.#program.exited
  }
}

/**
 * Returns a function that runs a sample like a file and returns what it prints. An endless stream runs until it prints
 * something other than a number. Call it once per test file.
 */
export function usePython(): (code: string, isStream?: boolean) => Promise<string[]> {
  let samples: PythonSamples | undefined
  afterAll(() => samples?.stop())
  return (code, isStream) => {
    samples ??= new PythonSamples()
    return samples.printed(code, isStream)
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  return undefined
}
