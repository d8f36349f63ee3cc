import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import { type CallOptions, TestService } from '../support/test-service.ts'

const PETS = 'name;Kategorie;Bestand;EAN;Farbe\nKäfer;Insekten;12,0;4006381333931;rot\n'

describe('POST /imports', () => {
  let service: TestService
  beforeAll(async () => {
    service = await TestService.start()
  })
  afterAll(() => service.stop())

  const send = (query: string, body: string | Uint8Array<ArrayBuffer>, options: CallOptions = {}) =>
    service.call('POST', `/imports${query}`, {
      ...options,
      body,
      headers: { 'Content-Type': 'text/csv', ...options.headers },
    })

  test('imports a file with German headers, decimals and semicolons, as the key that sent it', async () => {
    const { id, secret: key } = await service.createKey('pro', { permissions: ['pets', 'stock'] })
    const dry = await send('?dryRun=true', PETS, { key })
    const counts = { kind: 'pets', rows: 1, added: 1, changed: 0, unchanged: 0, ignoredColumns: ['"Farbe"'] }
    expect([dry.status, dry.json]).toEqual([200, { ...counts, dryRun: true }])
    expect((await service.call('GET', '/inventory/search?q=4006381333931')).text).toBe('[]')
    expect((await send('', PETS, { key })).json).toEqual({ ...counts, dryRun: false })
    const found = await service.call('GET', '/inventory/search?q=4006381333931')
    expect(found.items).toMatchObject([{ name: 'Käfer', quantity: 12 }])
    const [pet] = found.items as readonly { petId: number }[]
    const history = await service.call('GET', `/inventory/${pet?.petId}/history`)
    expect(history.items).toMatchObject([{ before: 0, after: 12, keyId: id }])
    expect((await send('', PETS, { key })).json).toMatchObject({ unchanged: 1 })
  })

  test('reads other columns by a mapping, and numbers and characters as the query says', async () => {
    const file = Buffer.from('Artikelnummer;Titel;Gruppe;Menge\n0815;M\xfcller;1;1.200\n', 'latin1')
    const map = '?map=Artikelnummer:barcode,Gruppe:categoryId'
    const ambiguous = await send(`${map}&encoding=latin1`, file)
    expect([ambiguous.status, ambiguous.json]).toMatchObject([
      400,
      {
        code: 'invalid_request',
        details: [{ index: 1, line: 2, message: expect.stringContaining('"1.200" is ambiguous') }],
      },
    ])
    expect((await send(`${map}&encoding=latin1&locale=de`, file)).json).toMatchObject({ added: 1 })
    const found = await service.call('GET', '/inventory/search?q=0815')
    expect(found.items).toMatchObject([{ name: 'Müller', categoryId: 1, quantity: 1_200 }])
  })

  test.each([
    ['', 'petId,quantity\n1,5x\n', 400, 'invalid_request', [[2, 'quantity must be an integer']]],
    ['', 'petId,name\n404,\n', 400, 'invalid_request', [[2, 'name and categoryId are missing']]],
    ['', 'petId,barcode\n1,TAKEN\n2,TAKEN\n', 400, 'invalid_request', [[3, 'is already on line 2']]],
    ['?kind=count', 'petId,quantity\n404,1\n', 404, 'not_found', [[2, 'there is no pet 404']]],
    ['?kind=count', 'EAN,quantity\n999,1\n', 404, 'not_found', [[2, 'no pet has the barcode 999']]],
    ['?kind=categories', 'id,name\n77,category 1\n', 409, 'already_exists', [[2, 'already called']]],
    [
      '?kind=orders',
      'id,petId,quantity,complete\n9,1,5000,false\n',
      400,
      'invalid_request',
      [[2, 'reserves stock']],
    ],
  ] as const)('of %s %j names the refused rows', async (query, file, status, code, rows) => {
    const before = await service.contents()
    const answer = await send(query, file)
    expect([answer.status, answer.json]).toMatchObject([
      status,
      { code, details: rows.map(([line, message]) => ({ line, message: expect.stringContaining(message) })) },
    ])
    expect(await service.contents()).toEqual(before)
  })

  test('reads the export of another shop by a preset', async () => {
    const file = 'Token,Item Name,Variation Name,GTIN,Current Quantity Shop\nT1,Hay,Regular,12345670,7\n'
    expect((await send('?preset=square', file)).json).toMatchObject({ added: 1, ignoredColumns: [] })
    const found = await service.call('GET', '/inventory/search?q=12345670')
    expect(found.items).toMatchObject([{ name: 'Hay', quantity: 7 }])
  })

  test.each([
    ['', '', 'the request body is missing'],
    ['', '\n\n', 'the file is empty'],
    ['', 'a,b\n1,2\n', 'lacks every known column'],
    ['', 'PK\x03\x04', 'is a spreadsheet workbook'],
    ['?map=a', 'petId\n1\n', 'a mapping must be like'],
    ['?map=a:nme', 'a\n1\n', '"nme" is not a column of pets (did you mean name?)'],
    ['?map=b:name', 'a\n1\n', 'the header has no column "b"'],
    ['?preset=square', 'Handle,Title\na,Hay\n', 'lacks Item Name, so it is not an export of square'],
    ['?preset=shopify&kind=orders', 'id\n1\n', 'shopify is a preset for a file of pets'],
    ['', 'Name,Titel\n1,2\n', 'the columns "Name" and "Titel" both mean name'],
    ['?kind=dogs', 'petId\n1\n', 'kind must be one of pets, orders, count, categories'],
  ])('refuses %s %j', async (query, file, message) => {
    const answer = await send(query, file)
    expect([answer.status, answer.json]).toMatchObject([400, { message: expect.stringContaining(message) }])
  })

  test('needs text/csv, and the permissions of what it changes', async () => {
    const json = await send('', PETS, { headers: { 'Content-Type': 'application/json' } })
    expect([json.status, json.json]).toMatchObject([400, { message: expect.stringContaining('text/csv') }])
    const { secret: key } = await service.createKey('pro', { permissions: ['pets'] })
    const statusOf = async (query: string, file: string) => (await send(query, file, { key })).status
    expect(await statusOf('', 'petId,name\n1,Renamed\n')).toBe(200)
    expect(await statusOf('', 'petId,quantity\n1,77\n')).toBe(403)
    expect(await statusOf('?kind=count', 'petId,quantity\n1,77\n')).toBe(403)
    expect(await statusOf('?kind=orders', 'id,petId,quantity,complete\n9,1,1,true\n')).toBe(403)
  })

  test('sent again with its Idempotency-Key creates its pets once, unless the file or the query differs', async () => {
    const headers = { 'Idempotency-Key': 'delivery' }
    const file = 'name,categoryId\nNameless,1\nNameless,1\n'
    const found = async () => (await service.call('GET', '/inventory/search?q=Nameless')).items
    for (const query of ['?dryRun=true', '']) {
      const first = await send(query, file, { headers })
      expect([first.isReplayed, first.json]).toMatchObject([false, { added: 2 }])
    }
    const before = await found()
    expect(before).toHaveLength(2)
    const again = await send('', file, { headers })
    expect([again.status, again.isReplayed, again.json]).toMatchObject([200, true, { added: 2 }])
    for (const [query, other] of [
      ['', `${file}Nameless,1\n`],
      ['?locale=de', file],
    ] as const) {
      const answer = await send(query, other, { headers })
      expect([answer.status, answer.error.code]).toEqual([422, 'idempotency_key_reused'])
    }
    expect(await found()).toEqual(before)
  })

  test('that changes nothing is remembered, and one that is refused is checked again', async () => {
    const headers = { 'Idempotency-Key': 'count' }
    const count = () => send('?kind=count', 'petId,quantity\n901,5\n', { headers })
    expect((await count()).status).toBe(404)
    await service.send('POST', '/pets', { id: 901, name: 'Counted', categoryId: 1, quantity: 5 })
    const upsert = () => send('', 'petId,quantity\n901,5\n', { headers: { 'Idempotency-Key': 'same' } })
    expect((await upsert()).json).toMatchObject({ unchanged: 1 })
    expect((await count()).json).toMatchObject({ unchanged: 1 })
    await service.setQuantity(901n, '{"quantity": 3}')
    for (const answer of [await upsert(), await count()]) expect(answer.isReplayed).toBe(true)
    expect((await service.call('GET', '/inventory/901')).item.quantity).toBe(3)
  })

  test('a large file sent again with its Idempotency-Key is recognised by its content', async () => {
    const headers = { 'Idempotency-Key': 'large' }
    const fileOf = (note: string) => `petId,name,note\n1,Rex,${note.repeat(2 * 1024 * 1024)}\n`
    expect((await send('', fileOf('a'), { headers })).status).toBe(200)
    expect((await send('', fileOf('a'), { headers })).isReplayed).toBe(true)
    expect((await send('', fileOf('b'), { headers })).status).toBe(422)
  })

  test('imports megabytes while other callers read and write', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `${index + 1_000},${'long name '.repeat(12)},1`)
    const importing = send('', `petId,name,categoryId\n${rows.join('\n')}\n`)
    let isOver = false
    void importing.then(() => {
      isOver = true
    })
    while (!isOver) {
      expect((await service.call('GET', '/inventory/1')).status).toBe(200)
      expect([200, 503]).toContain((await service.setQuantity(1n, '{"quantity": 3}')).status)
    }
    expect((await importing).json).toMatchObject({ added: 20_000 })
  })

  test('is a method of the client', async () => {
    const client = new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: service.key })
    const report = await client.imports.file('petId,quantity\n1,8\n', { kind: 'count', dryRun: true })
    expect(report).toMatchObject({ kind: 'count', dryRun: true, rows: 1 })
    await expect(client.imports.file('petId,quantity\n1,x\n')).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ line: 2 }],
    })
  })
})
