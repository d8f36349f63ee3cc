import type { CodeSample } from '../samples/code-tabs.tsx'
import { AUTHORIZATION, inEach, JSON_BODY, pythonRepeated } from './guide-samples.ts'

export type OrderSampleName = 'hold' | 'complete' | 'cancel' | 'conflict' | 'repeat'

/** The same in each language, complete: each runs as it stands, and the demo store has what it orders. */
export function neverOversellSamples(base: string): Readonly<Record<OrderSampleName, readonly CodeSample[]>> {
  const orders = `'${base}/store/orders'`
  /** Where it is, such as /v1/store/orders/37; what stands behind the last slash is its id. */
  const place = (body: string) => `order=$(curl -s -o /dev/null -w '%header{location}' ${orders} \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '${body}')`
  return {
    hold: inEach(base, {
      curl: `curl ${orders} \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"petId":1,"quantity":1,"holdSeconds":900}'`,
      client: `const order = await client.orders.create({ petId: 1, quantity: 1, holdSeconds: 900 })
console.log(order.id, order.expiresAt)`,
      python: `order, _ = call('POST', '/store/orders', {'petId': 1, 'quantity': 1, 'holdSeconds': 900})
print(order['id'], order['expiresAt'])`,
    }),
    complete: inEach(base, {
      curl: `${place('{"petId":1,"quantity":1,"holdSeconds":900}')}
# The customer pays.
curl -X PATCH "${base}/store/orders/\${order##*/}" \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"complete":true}'`,
      client: `const order = await client.orders.create({ petId: 1, quantity: 1, holdSeconds: 900 })
// The customer pays.
const complete = await client.orders.complete(order.id)
console.log(complete.state)`,
      python: `order, _ = call('POST', '/store/orders', {'petId': 1, 'quantity': 1, 'holdSeconds': 900})
# The customer pays.
complete, _ = call('PATCH', f"/store/orders/{order['id']}", {'complete': True})
print(complete['state'])`,
    }),
    cancel: inEach(base, {
      curl: `${place('{"petId":1,"quantity":1}')}
# The customer changes their mind.
curl -X DELETE "${base}/store/orders/\${order##*/}" \\
  ${AUTHORIZATION}`,
      client: `const order = await client.orders.create({ petId: 1, quantity: 1 })
// The customer changes their mind.
await client.orders.cancel(order.id)`,
      python: `order, _ = call('POST', '/store/orders', {'petId': 1, 'quantity': 1})
# The customer changes their mind.
call('DELETE', f"/store/orders/{order['id']}")`,
    }),
    conflict: inEach(base, {
      curl: `# 201 or 409; details of a 409 has what is available.
curl ${orders} \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"petId":1,"quantity":1000}' -w '\\n%{http_code}\\n'`,
      client: `try {
  const order = await client.orders.create({ petId: 1, quantity: 1000, holdSeconds: 900 })
  // The customer pays.
  await client.orders.complete(order.id)
} catch (error) {
  if (error instanceof InsufficientStockError) console.log(\`only \${error.available} are left\`)
  else if (error instanceof OrderClosedError) console.log(\`the order is \${error.state}\`)
  else throw error
}`,
      python: `try:
    order, _ = call('POST', '/store/orders', {'petId': 1, 'quantity': 1000, 'holdSeconds': 900})
    # The customer pays.
    call('PATCH', f"/store/orders/{order['id']}", {'complete': True})
except HTTPError as error:
    refusal = json.load(error)
    if refusal['code'] == 'insufficient_stock':
        print(f"only {refusal['details'][0]['available']} are left")
    elif refusal['code'] == 'order_closed':
        print(f"the order is {refusal['details'][0]['state']}")
    else:
        raise`,
    }),
    repeat: inEach(base, {
      curl: `curl --retry 5 --retry-connrefused ${orders} \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -H 'Idempotency-Key: checkout-1043' \\
  -d '{"petId":1,"quantity":1,"holdSeconds":900}'`,
      client: `// Without this key, the client uses a random one for each order and its retries.
const order = await client.orders.create(
  { petId: 1, quantity: 1, holdSeconds: 900 },
  { idempotencyKey: 'checkout-1043' },
)
console.log(order.id)`,
      python: `order = {'petId': 1, 'quantity': 1, 'holdSeconds': 900}
${pythonRepeated("call('POST', '/store/orders', order, {'Idempotency-Key': 'checkout-1043'})")}
print(answer['id'])`,
    }),
  }
}
