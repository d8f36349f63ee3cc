import { describe, expect, test } from 'bun:test'
import { commandNames, runCommand } from './run-command.ts'

describe('wrong usage', () => {
  const KEY = ['keys', 'create', '--name', 'a', '--plan']
  test.each([
    [[], 'Usage: petstore [options] [command]'],
    [['keys'], 'Usage: petstore keys [options] [command]'],
  ])('petstore %j without a command prints the help', async (args, help) => {
    const { exitCode, stdout, stderr } = await runCommand(args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toStartWith(help)
  })

  test.each([
    [['forget'], "unknown command 'forget'"],
    [['backup'], "missing required argument 'file'"],
    [['copy'], 'copy needs --from or --to'],
    [['export', '--colour'], "unknown option '--colour'"],
    [['export', '--orders', '--categories'], "option '--orders' cannot be used with option '--categories'"],
    [['health', '--wait', 'soon'], '--wait must be a whole number of 0 or more, got "soon"'],
    [['history', 'abc'], "unknown command 'abc'"],
    [['history', 'prune'], 'give either --before or --keep'],
    [['history', 'prune', '--keep', '1', '--before', '1d'], 'give either --before or --keep'],
    [['history', 'prune', '--keep', '-1'], '--keep must be a whole number of 0 or more, got "-1"'],
    [['history', 'prune', '--keep', '1.5'], '--keep must be a whole number of 0 or more'],
    [['history', 'prune', '--before', 'soon'], '--before must be like 90d, 12h or 2027-01-31, got "soon"'],
    [['history', 'prune', '--before', '2025-02-29'], '--before must be like 90d, 12h or 2027-01-31'],
    [['history', 'prune', '--before', '2127-01-31'], '--before must be in the past'],
    [
      ['history', 'prune', '--keep', '1'],
      'there is no terminal to ask for confirmation; --yes deletes the entries without asking',
    ],
    [['import'], "missing required argument 'kind'"],
    [['import', 'pets'], "missing required argument 'file'"],
    [['import', 'pets.csv', 'a'], "argument 'kind'. Allowed choices are pets, orders, count, categories"],
    [
      ['import', 'pets', 'odd.csv', '--encoding', 'ebcdic'],
      '--encoding must be one of utf8, latin1, got "ebcdic"',
    ],
    [['import', 'pets', 'odd.csv', '--show', 'all'], '--show must be a whole number of 0 or more, got "all"'],
    [['import', 'pets', 'odd.csv', '--fast'], "unknown option '--fast'"],
    [['keys', 'forget'], "unknown command 'forget'"],
    [['keys', 'create', '--plan', 'free'], "required option '--name <name>' not specified"],
    [['keys', 'create', '--name', ' ', '--plan', 'free'], '--name must be 1 to 200 characters'],
    [['keys', 'create', '--name', 'a\nb', '--plan', 'free'], 'without line ends'],
    [['keys', 'create', '--name', 'a'.repeat(201), '--plan', 'free'], '1 to 200 characters'],
    [['keys', 'create', '--name', 'a'], "required option '--plan <plan>' not specified"],
    [[...KEY, 'gold'], '--plan must be one of free, pro, business, enterprise, got "gold"'],
    [[...KEY, 'enterprise', '--per-day', '5'], '--per-minute'],
    [[...KEY, 'pro', '--per-day', '5'], '--per-day is not allowed'],
    [[...KEY, 'enterprise', '--per-minute', '0', '--per-day', '5'], '1 or more'],
    [[...KEY, 'pro', '--expires', 'soon'], '--expires must be like 90d, 12h or 2027-01-31'],
    [[...KEY, 'pro', '--expires', '2020-01-01'], '--expires must be in the future'],
    [[...KEY, 'pro', '--may', 'stock,fish'], 'stock,orders,pets,webhooks'],
    [[...KEY, 'pro', '--may', ''], '--may must be none'],
    [[...KEY, 'pro', '--may', 'stock,none'], '--may must be none'],
    [[...KEY, 'pro', '--owner', '--may', 'stock'], '--owner gives all permissions; leave out --may'],
    [['keys', 'revoke'], "missing required argument 'key'"],
    [
      ['keys', 'revoke', 'a'],
      'there is no terminal to ask for confirmation; --yes revokes the key without asking',
    ],
    [['restore'], 'give either the backup to restore or --new-identity'],
    [['restore', 'backup.db', '--new-identity'], 'give either the backup to restore or --new-identity'],
  ])('petstore %j prints one line and exits with 2', async (args, message) => {
    const { exitCode, stdout, stderr } = await runCommand(args)
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
    expect(stderr).toMatch(/^petstore: .*\n$/)
  })

  test('of serve, whose flags are settings, exits with 1 like a wrong setting', async () => {
    expect(await runCommand(['serve', '--prot', '1'])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^petstore: unknown option '--prot' \(Did you mean --port\?\).*\n$/),
    })
  })
})

describe('--help', () => {
  test.each(commandNames())('petstore %s', async (command) => {
    const { exitCode, stdout, stderr } = await runCommand([...command.split(' '), '--help'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toStartWith(`Usage: petstore ${command} `)
  })

  test('of serve lists every setting with its default', async () => {
    const { stdout } = await runCommand(['serve', '--help'])
    for (const name of ['--demo', '--port', '--host', '--database-url', '--trust-proxy', '--pet-sunset']) {
      expect(stdout).toContain(name)
    }
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('TRUST_PROXY, default off')
  })
})
