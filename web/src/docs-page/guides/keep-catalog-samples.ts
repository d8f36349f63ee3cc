import type { CodeSample } from '../samples/code-tabs.tsx'
import { AUTHORIZATION, inEach, JSON_BODY } from './guide-samples.ts'

export type CatalogSampleName = 'category' | 'pet' | 'change' | 'follow'

/** The same in each language, complete: each runs as it stands, on the demo store too. */
export function keepCatalogSamples(base: string): Readonly<Record<CatalogSampleName, readonly CodeSample[]>> {
  const sent = (request: string, body: string) => `curl ${request} \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '${body}'`
  return {
    category: inEach(base, {
      curl: sent(`'${base}/categories'`, '{"name":"Reptiles","lowStockAt":5}'),
      client: `const category = await client.categories.create({ name: 'Reptiles', lowStockAt: 5 })
console.log(\`\${category.name} are low at \${category.lowStockAt}\`)`,
      python: `category, _ = call('POST', '/categories', {'name': 'Reptiles', 'lowStockAt': 5})
print(f"{category['name']} are low at {category['lowStockAt']}")`,
    }),
    pet: inEach(base, {
      curl: sent(
        `'${base}/pets'`,
        '{"name":"Corn snake","categoryId":1,"quantity":12,"barcode":"2000000010007"}',
      ),
      client: `const pet = await client.pets.create({
  name: 'Corn snake',
  categoryId: 1,
  quantity: 12,
  barcode: '2000000010007',
})
console.log(\`pet \${pet.id} has the barcode \${pet.barcode}\`)`,
      python: `pet, _ = call('POST', '/pets', {
    'name': 'Corn snake',
    'categoryId': 1,
    'quantity': 12,
    'barcode': '2000000010007',
})
print(f"pet {pet['id']} has the barcode {pet['barcode']}")`,
    }),
    change: inEach(base, {
      curl: sent(`-X PATCH '${base}/pets/1'`, '{"lowStockAt":3}'),
      client: `const pet = await client.pets.update(1, { lowStockAt: 3 })
console.log(\`\${pet.name} is low at \${pet.lowStockAt}\`)`,
      python: `pet, _ = call('PATCH', '/pets/1', {'lowStockAt': 3})
print(f"{pet['name']} is low at {pet['lowStockAt']}")`,
    }),
    follow: inEach(base, {
      curl: `curl -N '${base}/inventory/events' \\
  ${AUTHORIZATION} |
  grep --line-buffered -A 2 -E '^event: (low|recovered)$'`,
      client: `const pet = await client.pets.create({ name: 'Gecko', categoryId: 1, quantity: 12, lowStockAt: 3 })
for await (const event of client.inventory.events()) {
  if (event.type === 'ready') {
    await client.inventory.sell({ petId: pet.id, quantity: 10 })
  }
  if (event.type === 'low' && event.petId === pet.id) {
    console.log(\`low: \${event.available} left\`)
    await client.inventory.receive({ petId: pet.id, quantity: 24 })
  }
  if (event.type === 'recovered' && event.petId === pet.id) {
    console.log(\`recovered: \${event.available} again\`)
    break
  }
}`,
      python: `def adjust(delta, reason):
    call('POST', '/inventory/adjustments', {
        'reason': reason,
        'changes': [{'petId': pet['id'], 'delta': delta}],
    })

pet, _ = call('POST', '/pets', {'name': 'Gecko', 'categoryId': 1, 'quantity': 12, 'lowStockAt': 3})
for kind, event in events():
    if kind == 'ready':
        adjust(-10, 'sold')
    elif kind == 'low' and event['petId'] == pet['id']:
        print(f"low: {event['available']} left")
        adjust(24, 'received')
    elif kind == 'recovered' and event['petId'] == pet['id']:
        print(f"recovered: {event['available']} again")
        break`,
    }),
  }
}
