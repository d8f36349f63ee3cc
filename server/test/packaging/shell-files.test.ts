import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { completionScript, manPage, SHELLS } from '../../scripts/shell-files.ts'
import { createProgram } from '../../src/cli/program.ts'
import { flagOf, SETTING_NAMES } from '../../src/service/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-shell-'))
const script = (shell: string) => join(folder, `petstore.${shell}`)
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeAll(async () => {
  for (const shell of SHELLS) await Bun.write(script(shell), completionScript(shell, createProgram()))
})

const run = (...command: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder })
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** The completions that each shell offers for a line. */
const COMPLETE: Readonly<Record<string, (line: string) => string[]>> = {
  bash: (line) => {
    const words = line.split(' ').map((word) => `'${word}'`)
    const call = `. ${script('bash')}; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _petstore; printf '%s\\n' "\${COMPREPLY[@]}"`
    return lines(run('bash', '-c', call).stdout)
  },
  fish: (line) => {
    const { stdout } = run('fish', '--no-config', '-c', `source ${script('fish')}; complete -C '${line}'`)
    return lines(stdout).map((text) => text.split('\t')[0] ?? '')
  },
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

const isThere = (program: string) => Bun.which(program) !== null

describe.each(Object.entries(COMPLETE))('completion in %s', (shell, complete) => {
  test.skipIf(!isThere(shell))('offers the commands, their subcommands, and the flags of each', () => {
    expect(complete('petstore ')).toEqual(expect.arrayContaining(['serve', 'keys', 'import', 'backup']))
    expect(complete('petstore ser')).toEqual(['serve'])
    expect(complete('petstore keys ')).toEqual(expect.arrayContaining(['create', 'rotate', 'revoke']))
    expect(complete('petstore keys create --pl')).toEqual(['--plan'])
    expect(complete('petstore keys revoke --pl')).toEqual([])
    expect(complete('petstore serve --metrics-')).toEqual(['--metrics-host', '--metrics-port'])
    // A value can be anything, but is not a command.
    expect(complete('petstore keys create --name ')).not.toContain('rotate')
  })
})

test.skipIf(!isThere('zsh'))('zsh can parse its completion', () => {
  expect(run('zsh', '-n', script('zsh'))).toEqual({ exitCode: 0, stdout: '', stderr: '' })
})

test('the completion of zsh and fish names every command and setting', async () => {
  for (const shell of ['zsh', 'fish']) {
    const text = await Bun.file(script(shell)).text()
    for (const word of ['/keys/create', '/history/prune']) expect(text).toContain(word)
    for (const name of SETTING_NAMES) {
      expect(text).toContain(shell === 'zsh' ? `'${flagOf(name)}:` : ` -l ${flagOf(name).slice(2)} -r`)
    }
  }
})

test('the manual page names every command and setting, and roff reports no problem', async () => {
  const page = manPage(createProgram())
  for (const section of ['NAME', 'SYNOPSIS', 'COMMANDS', 'ENVIRONMENT', 'EXIT STATUS', 'EXAMPLES']) {
    expect(page).toContain(`\n.SH ${section}\n`)
  }
  for (const command of ['serve', 'keys create', 'import', 'backup'])
    expect(page).toContain(`\n.SS ${command}\n`)
  for (const name of SETTING_NAMES)
    expect(page).toContain(`.B ${flagOf(name).replaceAll('-', '\\-')} <value>`)
  await Bun.write(join(folder, 'petstore.1'), page)
  if (isThere('groff')) {
    const { exitCode: code, stderr } = run('groff', '-man', '-ww', '-z', 'petstore.1')
    expect([code, stderr]).toEqual([0, ''])
  }
})
