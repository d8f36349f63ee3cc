import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { run } from '../../../client/test/support/built-client.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import type { Sample } from '../../docs/code.ts'
import {
  codeBlocks,
  filledIn,
  guideSample,
  LANGUAGES,
  orderOne,
  post,
  sampleTitles,
  stockTheExample,
  testWith,
} from '../support/guide-samples.ts'
import { printed } from '../support/printed-sample.ts'
import { usePython } from '../support/python-samples.ts'

const CLIENT_README = join(import.meta.dir, '../../../client/README.md')

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())
const inPython = usePython()

/** Runs a sample and returns its output: of curl the text, otherwise each printed line. */
async function outputOf(code: string, language: Sample['language']): Promise<unknown> {
  if (language === 'typescript') return printed(code, false)
  if (language === 'python') return inPython(code)
  return (await run(['sh', '-c', code.replaceAll('curl ', 'curl --silent ')])).stdout
}

/** A key of its own for each sample: idempotency keys of one sample do not affect the next. */
async function ownKey(): Promise<{ readonly address: string; readonly key: string }> {
  const { secret } = await service.createKey('enterprise')
  return { address: service.address, key: secret }
}

/** What each sample leaves or prints. Each begins with `stockTheExample`. */
const GUIDES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  // The quantities of pets 1 and 2 afterwards, from 12 and 28.
  'change-stock-safely': {
    'Set the quantity': [30, 28],
    'Set the quantity if it is unchanged': [10, 28],
    'Adjust the quantity': [10, 28],
    'Sell only units that are not reserved': [10, 28],
    'Adjust several pets': [24, 30],
    'Retry a delivery': [24, 28],
  },
  // The shelf and the reserved units of pet 1 afterwards, from 12 and 0.
  'never-oversell': {
    'Hold a unit': [12, 1],
    'Complete an order': [11, 0],
    'Cancel an order': [12, 0],
    'Order several pets': [12, 2],
    'Take a unit back': [11, 0],
    'Handle a 409': [12, 0],
    'Retry an order': [12, 1],
  },
  'keep-the-catalogue': {
    'Create a category': ['Reptiles are low at 5'],
    'Create a pet': [expect.stringMatching(/^pet \d+ has the barcode 2000000010007$/)],
    'Save several pets': ['1 created, 1 updated'],
    'Change a threshold': ['Biscuit is low at 3'],
    'Follow low stock': ['low: 2 left', 'recovered: 26 again'],
  },
}
/** The response that curl prints. */
const SENT: Readonly<Record<string, object>> = {
  'Create a category': { name: 'Reptiles', lowStockAt: 5 },
  'Create a pet': { name: 'Corn snake', categoryId: 1, status: 'available', barcode: '2000000010007' },
  'Save several pets': { created: 1, updated: 1 },
  'Change a threshold': { id: 1, name: 'Biscuit', lowStockAt: 3 },
}

/** What the guide is about, after its sample. */
async function outcomeOf(guide: string, output: unknown): Promise<unknown> {
  if (guide === 'keep-the-catalogue') return output
  if (guide === 'change-stock-safely') {
    const { items } = await service.call('GET', '/inventory')
    return items.slice(0, 2).map(({ quantity }) => quantity)
  }
  const { json } = await service.call('GET', '/inventory/1/availability')
  const { quantity, reserved } = json as { readonly quantity: number; readonly reserved: number }
  return [quantity, reserved]
}

describe.each(Object.entries(GUIDES))('every sample of the guide %s runs', (guide, outcomes) => {
  for (const language of LANGUAGES) {
    testWith(language, `with ${language}`, async () => {
      expect(await sampleTitles(guide)).toEqual(Object.keys(outcomes))
      for (const title of await sampleTitles(guide)) {
        // curl follows the stream without an end.
        if (language === 'shell' && title === 'Follow low stock') continue
        await stockTheExample(service)
        const code = await guideSample(await ownKey(), { guide, title, language })
        const output = await outputOf(code, language)
        if (title.startsWith('Retry ')) await outputOf(code, language)
        if (title === 'Handle a 409' && language !== 'shell') expect(output).toEqual(['only 12 are left'])
        const sent = language === 'shell' ? SENT[title] : undefined
        if (sent !== undefined) expect(JSON.parse(String(output))).toMatchObject(sent)
        else expect([title, await outcomeOf(guide, output)]).toEqual([title, outcomes[title]])
      }
    })
  }
})

test('the guide on changing stock shows a refusal exactly as the service sends it', async () => {
  await stockTheExample(service)
  const body =
    '{"reason":"received","changes":[{"petId":1,"delta":12},{"petId":404,"delta":5},{"petId":2,"delta":-100}]}'
  const answer = await post(service, '/inventory/adjustments', body)
  expect(answer.text).toBe(
    (await codeBlocks('change-stock-safely')).get('Two of three changes cannot be made') ?? '',
  )
  expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(12)
})

test('the sample for sales does not sell reserved units', async () => {
  await stockTheExample(service)
  await post(service, '/store/orders', '{"petId":1,"quantity":11}')
  const sample = {
    guide: 'change-stock-safely',
    title: 'Sell only units that are not reserved',
    language: 'typescript',
  } as const
  await expect(printed(await guideSample(service, sample), false)).rejects.toMatchObject({
    code: 'insufficient_stock',
  })
})

test('the guide on orders shows a refusal exactly as the service sends it', async () => {
  await stockTheExample(service)
  await service.setQuantity(1n, '{"quantity":1}')
  expect((await orderOne(service)).status).toBe(201)
  const { text } = await orderOne(service)
  expect(text).toBe((await codeBlocks('never-oversell')).get('The last unit is reserved') ?? '')
})

testWith('shell', 'curl opens the stream of low stock', async () => {
  const sample = { guide: 'keep-the-catalogue', title: 'Follow low stock', language: 'shell' } as const
  const command = `exec ${(await guideSample(service, sample)).replace('curl ', 'curl --silent ')}`
  const stream = Bun.spawn(['sh', '-c', command], { stdout: 'pipe' })
  try {
    const { value } = await stream.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toMatch(/^(retry: \d+\n+)?event: ready\n/)
  } finally {
    stream.kill()
    await stream.exited
  }
})

describe('every sample of the guide on keys runs', () => {
  const guide = 'keys-and-people'
  const PRINTED: Readonly<Record<string, readonly string[]>> = {
    'Create a key': ['Anna', 'Anna stock orders True'],
    'Pair a device': ['Ben', 'Ben True'],
  }

  for (const language of LANGUAGES) {
    testWith(language, `with ${language}`, async () => {
      for (const title of await sampleTitles(guide)) {
        const created = await post(service, '/keys', '{"name":"Ben","plan":"free"}')
        const { id } = (created.json as { readonly key: { readonly id: string } }).key
        const code = (await guideSample(service, { guide, title, language })).replaceAll('KEY_ID', id)
        const output = await outputOf(code, language)
        const [name, line] = PRINTED[title] ?? []
        if (language === 'shell')
          expect(JSON.parse(String(output))).toMatchObject({ key: { name }, secret: expect.any(String) })
        else expect(output).toEqual([language === 'typescript' ? name : line])
      }
    })
  }
})

describe('the samples of a copy of the stock run', () => {
  for (const language of ['typescript', 'python'] as const) {
    testWith(language, `with ${language}`, async () => {
      const code = await guideSample(service, { guide: 'events', title: 'Keep a copy', language })
      const { items } = await service.call('GET', '/inventory')
      const output = await (language === 'typescript' ? printed(code, true) : inPython(code, true))
      expect(output).toEqual([`ready: ${items.length} pets`])
    })
  }
})

describe('the samples of an exact id keep every digit', () => {
  for (const language of ['typescript', 'python'] as const) {
    testWith(language, `with ${language}`, async () => {
      const code = await guideSample(service, { guide: 'ids-and-json', title: 'Keep every digit', language })
      expect((await outputOf(code, language)) as unknown[]).toEqual([
        language === 'typescript' ? 9007199254740993n : '9007199254740993',
      ])
    })
  }
})

test('the code of the guide on the client runs from top to bottom', async () => {
  await stockTheExample(service)
  await service.setQuantity(1n, '{"quantity":4}')
  await post(service, '/pets', '{"id":16,"name":"Neon tetra","categoryId":1,"quantity":10}')
  const { Install: install, ...blocks } = Object.fromEntries(await codeBlocks('typescript-client'))
  expect(await Bun.file(CLIENT_README).text()).toContain(`\`\`\`sh\n${install}\n\`\`\``)
  const code = Object.values(blocks).join('\n')
  const values = await printed(filledIn(code, service), false)
  // The entry, the quantity after the loss, a page, and at the end the message about pet 404.
  expect(values.slice(0, 2)).toEqual([expect.objectContaining({ petId: 1n, quantity: 4 }), 57])
  expect(values.at(-1)).toContain('petId 404')
  expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(14)
})

test('the guide on errors shows an error of the service', async () => {
  const shown = (await codeBlocks('errors')).get('An error') ?? ''
  expect((await service.setQuantity(1n, '{"quantity":"5"}')).text).toBe(shown)
})
