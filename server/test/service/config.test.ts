import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readConfig, type SettingName } from '../../src/service/config.ts'

describe('a setting', () => {
  test.each([
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['METRICS_PORT', 'on'],
    ['METRICS_PORT', '65536'],
    ['LOG_REQUESTS', 'some'],
    ['BASE_URL', 'https://shop.test/'],
    ['BASE_URL', 'https://shop.test/v1?x=1'],
    ['TRUST_PROXY', 'perhaps'],
    ['TRUST_PROXY', 'constructor'],
    ['PG_POOL_SIZE', '0'],
    ['TIME_ZONE', '+01:00'],
    ['TIME_ZONE', 'Berlin'],
    ['PET_SUNSET', 'soon'],
    ['PET_SUNSET', '2030-02-31'],
  ])('%s=%s is rejected with the valid values', (name, value) => {
    expect(() => readConfig({}, { [name]: value })).toThrow(`${name} must be `)
  })

  test('is named as it was given: by its flag', () => {
    expect(() => readConfig({ port: 'x' }, { PORT: '1' })).toThrow('--port must be ')
  })

  test.each([
    ['tlsCert', '--tls-cert needs --tls-key'],
    ['tlsKey', '--tls-key needs --tls-cert'],
  ] satisfies [SettingName, string][])('%s is rejected alone', (name, message) => {
    expect(() => readConfig({ [name]: 'file.pem' }, {})).toThrow(message)
  })
})

describe('the location of the database', () => {
  const here = (path: string) => `sqlite:${join(process.cwd(), path)}`
  const HOSTS = 'postgres://me@one:5433,two:5434/shop'
  test.each([
    ['nothing', {}, {}, here('data/petstore.db')],
    ['an empty DATABASE_URL', {}, { DATABASE_URL: '' }, here('data/petstore.db')],
    ['DATABASE_URL', {}, { DATABASE_URL: 'sqlite:a.db' }, here('a.db')],
    ['several hosts, each with its port', {}, { DATABASE_URL: HOSTS }, HOSTS],
    ['--database-url', { databaseUrl: 'sqlite:/a/../b.db' }, { DATABASE_URL: 'sqlite:a.db' }, 'sqlite:/b.db'],
  ])('is set by %s', (_, flags, environment, expected) => {
    expect(readConfig(flags, environment).databaseUrl).toBe(expected)
  })

  test.each(['mysql://x', 'sqlite::memory:'])('cannot be %s', (databaseUrl) => {
    expect(() => readConfig({ databaseUrl }, {})).toThrow('--database-url must be of the form sqlite:PATH')
  })

  test('is not a folder, as of version 1.1, unless the database is named as well', () => {
    const environment = { PETSTORE_DATA: '/srv/shop' }
    expect(() => readConfig({}, environment)).toThrow('set DATABASE_URL=sqlite:/srv/shop/petstore.db')
    expect(readConfig({ databaseUrl: 'sqlite:/b.db' }, environment).databaseUrl).toBe('sqlite:/b.db')
  })
})
