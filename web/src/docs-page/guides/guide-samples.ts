import type { CodeSample } from '../samples/code-tabs.tsx'
import { KEY_PLACEHOLDER } from '../samples/request-samples.ts'

/** What every request of curl has. */
export const AUTHORIZATION = `-H 'Authorization: Bearer ${KEY_PLACEHOLDER}'`
export const JSON_BODY = "-H 'Content-Type: application/json'"

/** The same in the words of each tool; a part that all samples of a tool begin with is left out. */
export interface Spoken {
  readonly curl?: string
  readonly client: string
  /** May use `call(method, path, body, headers)`, `events()` and whatever of `PYTHON_IMPORTS`. */
  readonly python: string
}

/** Complete samples: each runs as it stands. */
export function inEach(base: string, { curl, client, python }: Spoken): readonly CodeSample[] {
  return [
    ...(curl === undefined
      ? []
      : [{ id: 'curl', title: 'curl', language: 'shell', code: curl } satisfies CodeSample]),
    {
      ...({ id: 'client', title: 'TypeScript client', language: 'typescript' } as const),
      code: `${clientBeginning(base, client)}\n\n${client}`,
    },
    {
      ...({ id: 'python', title: 'Python', language: 'python' } as const),
      code: `${pythonBeginning(base, python)}\n\n${python}`,
    },
  ]
}

/** A client, and whatever else of its module the sample names. */
function clientBeginning(base: string, code: string): string {
  const named = ['InsufficientStockError', 'OrderClosedError'].filter((name) => code.includes(name))
  return `import { ${[...named, 'PetstoreClient'].join(', ')} } from '@petstore/client'

const client = new PetstoreClient({ baseUrl: '${base}', apiKey: '${KEY_PLACEHOLDER}' })`
}

/** By what a sample has in it. */
const PYTHON_IMPORTS = [
  ['json.', 'import json'],
  ['time.', 'import time'],
  ['HTTPError', 'from urllib.error import HTTPError'],
  ['urlopen', 'from urllib.request import Request, urlopen'],
] as const

/** With what every Python brings along. */
function pythonBeginning(base: string, code: string): string {
  const parts = [pythonCall(base), ...(code.includes('events()') ? [pythonEvents(base)] : [])]
  const whole = [...parts, code].join('\n')
  const imports = PYTHON_IMPORTS.filter(([use]) => whole.includes(use)).map(([, line]) => line)
  return [imports.join('\n'), ...parts].join('\n\n')
}

function pythonCall(base: string): string {
  return `def call(method, path, body=None, headers={}):
    headers = {'Authorization': 'Bearer ${KEY_PLACEHOLDER}', 'Content-Type': 'application/json', **headers}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request('${base}' + path, data, headers, method=method)) as answer:
        text = answer.read()
        return json.loads(text) if text else None, answer.headers
`
}

function pythonEvents(base: string): string {
  return `# When the connection breaks, the loop ends: begin another with the last id as Last-Event-ID.
def events():
    headers = {'Authorization': 'Bearer ${KEY_PLACEHOLDER}'}
    with urlopen(Request('${base}/inventory/events', headers=headers)) as stream:
        for line in stream:
            name, _, value = line.decode().rstrip().partition(': ')
            if name == 'event':
                kind = value
            elif name == 'data':
                yield kind, json.loads(value)
`
}

/** Sends the same again while no answer comes; the call has an Idempotency-Key, so it is made once. */
export function pythonRepeated(call: string): string {
  return `for pause in [1, 2, 4, 8, None]:
    try:
        answer, _ = ${call}
        break
    except OSError as error:
        # It was refused, or tried often enough.
        if pause is None or getattr(error, 'code', 500) < 500:
            raise
        time.sleep(pause)`
}
