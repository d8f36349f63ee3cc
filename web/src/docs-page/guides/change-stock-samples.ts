import type { CodeSample } from '../samples/code-tabs.tsx'
import { AUTHORIZATION, inEach, JSON_BODY, pythonRepeated } from './guide-samples.ts'

export type SampleName = 'set' | 'setIfUnchanged' | 'adjust' | 'adjustMany' | 'repeat'

/** The same change in each language, complete: each runs as it stands. */
export function changeStockSamples(base: string): Readonly<Record<SampleName, readonly CodeSample[]>> {
  return {
    set: inEach(base, {
      curl: `curl -X PATCH '${base}/inventory/1' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"quantity":30}'`,
      client: `const item = await client.inventory.set(1, { quantity: 30 })
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
      client: `const seen = await client.inventory.get(1)
const quantity = seen.quantity - 2
const item = await client.inventory.set(1, { quantity }, { ifMatch: seen.etag })
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
      client: `const [item] = await client.inventory.adjust({
  reason: 'sold',
  reference: 'order 17',
  changes: [{ petId: 1, delta: -2 }],
})
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
      client: `const items = await client.inventory.adjust({
  reason: 'received',
  reference: 'PO-1043',
  changes: [
    { petId: 1, delta: 12 },
    { petId: 2, quantity: 30, expected: 28 },
  ],
})
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
      client: `// Without this key, the client uses a random one for each change and its retries.
const item = await client.inventory.receive(
  { petId: 1, quantity: 12 },
  { idempotencyKey: 'delivery-1043' },
)
console.log(item.quantity)`,
      python: `adjustment = {'reason': 'received', 'changes': [{'petId': 1, 'delta': 12}]}
${pythonRepeated("call('POST', '/inventory/adjustments', adjustment, {'Idempotency-Key': 'delivery-1043'})")}
print(answer['items'][0]['quantity'])`,
    }),
  }
}
