import type { CodeSample } from '../samples/code-tabs.tsx'
import { inEach } from './guide-samples.ts'

/** A copy of the stock that is always right: it begins with a list, and each event changes it. */
export function copySamples(base: string): readonly CodeSample[] {
  return inEach(base, {
    client: `const stock = new Map()
for await (const event of client.inventory.events()) {
  if (event.type === 'ready' || event.type === 'relist') {
    stock.clear()
    for await (const item of client.inventory.list()) stock.set(item.petId, item)
  }
  if (event.type === 'pet') stock.set(event.petId, event)
  if (event.type === 'change') {
    const { petId, after, status } = event
    stock.set(petId, { petId, quantity: after, status })
  }
  if (event.type === 'removed') stock.delete(event.petId)
  console.log(\`\${event.type}: \${stock.size} pets\`)
}`,
    python: `stock = {}
for kind, event in events():
    if kind in ('ready', 'relist'):
        items, _ = call('GET', '/inventory')
        stock = {item['petId']: item for item in items}
    elif kind == 'pet':
        stock[event['petId']] = event
    elif kind == 'change':
        stock[event['petId']] = {**event, 'quantity': event['after']}
    elif kind == 'removed':
        stock.pop(event['petId'], None)
    print(f"{kind}: {len(stock)} pets")`,
  })
}
