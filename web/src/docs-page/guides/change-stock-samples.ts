import type { CodeSample } from '../samples/code-tabs.tsx'
import { KEY_PLACEHOLDER } from '../samples/request-samples.ts'

export type SampleName = 'set' | 'setIfUnchanged' | 'adjust' | 'adjustMany' | 'repeat'

interface Call {
  readonly curl: string
  readonly client: string
  readonly python: string
}

const AUTHORIZATION = `-H 'Authorization: Bearer ${KEY_PLACEHOLDER}'`
const JSON_BODY = "-H 'Content-Type: application/json'"

/** The same change in each language, complete: each runs as it stands. */
export function changeStockSamples(base: string): Readonly<Record<SampleName, readonly CodeSample[]>> {
  return {
    set: inEach(base, {
      curl: `curl -X PATCH '${base}/inventory/1' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"quantity":30}'`,
      client: `const item = await client.updateInventory(1n, { quantity: 30 })
console.log(item.quantity)`,
      python: `item, _ = call('PATCH', '/inventory/1', {'quantity': 30})
print(item['quantity'])`,
    }),
    setIfUnchanged: inEach(base, {
      curl: `tag=$(curl -s -o /dev/null -w '%header{etag}' '${base}/inventory/1' \\
  ${AUTHORIZATION})
curl -X PATCH '${base}/inventory/1' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -H "If-Match: $tag" -d '{"quantity":10}'`,
      client: `const seen = await client.getInventoryItem(1n)
const quantity = seen.quantity - 2
const item = await client.updateInventory(1n, { quantity }, { ifMatch: seen.etag })
console.log(item.quantity)`,
      python: `seen, headers = call('GET', '/inventory/1')
quantity = seen['quantity'] - 2
item, _ = call('PATCH', '/inventory/1', {'quantity': quantity}, {'If-Match': headers['ETag']})
print(item['quantity'])`,
    }),
    adjust: inEach(base, {
      curl: `curl '${base}/inventory/adjustments' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"reason":"sold","reference":"order 17","changes":[{"petId":1,"delta":-2}]}'`,
      client: `const item = await client.adjustInventory(
  { petId: 1n, delta: -2 },
  { reason: 'sold', reference: 'order 17' },
)
console.log(item.quantity)`,
      python: `answer, _ = call('POST', '/inventory/adjustments', {
    'reason': 'sold',
    'reference': 'order 17',
    'changes': [{'petId': 1, 'delta': -2}],
})
print(answer['items'][0]['quantity'])`,
    }),
    adjustMany: inEach(base, {
      curl: `curl '${base}/inventory/adjustments' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"reason":"received","reference":"PO-1043","changes":[
    {"petId":1,"delta":12},
    {"petId":2,"quantity":30,"expected":28}]}'`,
      client: `const items = await client.adjustInventory(
  [
    { petId: 1n, delta: 12 },
    { petId: 2n, quantity: 30, expected: 28 },
  ],
  { reason: 'received', reference: 'PO-1043' },
)
console.log(items.map(({ quantity }) => quantity))`,
      python: `answer, _ = call('POST', '/inventory/adjustments', {
    'reason': 'received',
    'reference': 'PO-1043',
    'changes': [
        {'petId': 1, 'delta': 12},
        {'petId': 2, 'quantity': 30, 'expected': 28},
    ],
})
print([item['quantity'] for item in answer['items']])`,
    }),
    repeat: inEach(base, {
      curl: `curl --retry 5 --retry-connrefused '${base}/inventory/adjustments' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -H 'Idempotency-Key: delivery-1043' \\
  -d '{"reason":"received","changes":[{"petId":1,"delta":12}]}'`,
      client: `// Without one of yours, each change gets a key of its own and is repeated with it all the same.
const item = await client.adjustInventory(
  { petId: 1n, delta: 12 },
  { reason: 'received', idempotencyKey: 'delivery-1043' },
)
console.log(item.quantity)`,
      python: `adjustment = {'reason': 'received', 'changes': [{'petId': 1, 'delta': 12}]}
for pause in [1, 2, 4, 8, None]:
    try:
        answer, _ = call('POST', '/inventory/adjustments', adjustment, {'Idempotency-Key': 'delivery-1043'})
        break
    except OSError as error:
        # It was refused, or tried often enough.
        if pause is None or getattr(error, 'code', 500) < 500:
            raise
        time.sleep(pause)
print(answer['items'][0]['quantity'])`,
    }),
  }
}

function inEach(base: string, { curl, client, python }: Call): readonly CodeSample[] {
  const begunClient = `${clientBeginning(base)}\n\n${client}`
  const begunPython = `${pythonBeginning(base, python.includes('time.sleep'))}\n\n${python}`
  return [
    { id: 'curl', title: 'curl', language: 'shell', code: curl },
    { id: 'client', title: 'TypeScript client', language: 'typescript', code: begunClient },
    { id: 'python', title: 'Python', language: 'python', code: begunPython },
  ]
}

function clientBeginning(base: string): string {
  return `import { PetstoreClient } from '@petstore/client'

const client = new PetstoreClient({ baseUrl: '${base}', apiKey: '${KEY_PLACEHOLDER}' })`
}

/** With what every Python brings along. */
function pythonBeginning(base: string, waits: boolean): string {
  return `import json
${waits ? 'import time\n' : ''}from urllib.request import Request, urlopen

def call(method, path, body=None, headers={}):
    headers = {'Authorization': 'Bearer ${KEY_PLACEHOLDER}', 'Content-Type': 'application/json', **headers}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request('${base}' + path, data, headers, method=method)) as answer:
        return json.load(answer), answer.headers
`
}
